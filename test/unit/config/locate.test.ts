import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  findCheckout,
  locateConfig,
  stateDirFor,
  userConfigDir,
  userStateDir,
  type HostFacts,
} from "../../../src/config/locate.ts";

let folder = "";
let facts: HostFacts;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "portcullis-locate-")));
  await mkdir(join(folder, "home/.config/portcullis"), { recursive: true });
  await mkdir(join(folder, "project"));
  facts = { cwd: join(folder, "project"), env: {}, homeDir: join(folder, "home"), platform: "linux" };
});
afterEach(() => rm(folder, { recursive: true }));

describe("directories of the user", () => {
  const at = (platform: NodeJS.Platform, env: Record<string, string> = {}): string[] => {
    const homeDir = platform === "win32" ? "C:\\Users\\me" : "/home/me";
    return [userConfigDir, userStateDir].map((where) => where({ cwd: "/", env, homeDir, platform }));
  };

  it.each([
    ["linux", {}, "/home/me/.config/portcullis", "/home/me/.local/state/portcullis"],
    ["linux", { XDG_CONFIG_HOME: "/c", XDG_STATE_HOME: "/s" }, "/c/portcullis", "/s/portcullis"],
    [
      "linux",
      { XDG_CONFIG_HOME: "rel", XDG_STATE_HOME: "" },
      "/home/me/.config/portcullis",
      "/home/me/.local/state/portcullis",
    ],
    [
      "darwin",
      {},
      "/home/me/Library/Application Support/portcullis",
      "/home/me/Library/Application Support/portcullis/state",
    ],
    [
      "win32",
      {},
      "C:\\Users\\me\\AppData\\Roaming\\portcullis",
      "C:\\Users\\me\\AppData\\Local\\portcullis\\state",
    ],
    ["win32", { APPDATA: "D:\\R", LOCALAPPDATA: "D:\\L" }, "D:\\R\\portcullis", "D:\\L\\portcullis\\state"],
  ] as const)("%s %j", (platform, env, config, state) => {
    expect(at(platform, env)).toEqual([config, state]);
  });

  it("give each configuration its own state folder, readable and unique", () => {
    const one = stateDirFor("/srv/acme web/portcullis.json", facts);
    const other = stateDirFor("/other/acme web/portcullis.json", facts);
    expect(one).toMatch(/\/portcullis\/acme-web-[0-9a-f]{16}$/);
    expect(one).not.toBe(other);
    expect(stateDirFor("/portcullis.json", facts)).toMatch(/\/config-[0-9a-f]{16}$/);
    expect(stateDirFor("/.../portcullis.json", facts)).toMatch(/\/config-[0-9a-f]{16}$/);
  });
});

describe("locateConfig", () => {
  it("takes the file that is named, as consent, and resolves links", async () => {
    await writeFile(join(folder, "project/mine.json"), "{}");
    await symlink(join(folder, "project/mine.json"), join(folder, "link.json"));
    const expected = { file: join(folder, "project/mine.json"), isDiscovered: false };
    expect(await locateConfig("mine.json", facts)).toEqual(expected);
    expect(await locateConfig(join(folder, "link.json"), facts)).toEqual(expected);
  });

  it("looks in the current folder, then in the user's configuration directory, and nowhere else", async () => {
    await writeFile(join(folder, "portcullis.json"), "{}");
    await expect(locateConfig(undefined, facts)).rejects.toMatchObject({ code: "config_not_found" });
    const ofUser = join(folder, "home/.config/portcullis/portcullis.json");
    await writeFile(ofUser, "{}");
    expect(await locateConfig(undefined, facts)).toEqual({ file: ofUser, isDiscovered: true });
    const ofProject = join(folder, "project/portcullis.json");
    await writeFile(ofProject, "{}");
    expect(await locateConfig(undefined, facts)).toEqual({ file: ofProject, isDiscovered: true });
  });

  it("names the places where nothing was", async () => {
    await expect(locateConfig(undefined, facts)).rejects.toThrow(
      /project\/portcullis\.json` or `.*\.config\/portcullis/,
    );
    await expect(locateConfig("nope.json", facts)).rejects.toThrow(/nope\.json/);
    await expect(locateConfig(".", facts)).rejects.toMatchObject({ code: "config_not_found" });
  });
});

describe("findCheckout", () => {
  it("finds the folder with `.git` at or above, but not the home folder", async () => {
    await mkdir(join(folder, "project/.git"));
    await mkdir(join(folder, "home/.git"));
    expect(await findCheckout(join(folder, "project/a/b"), facts)).toBe(join(folder, "project"));
    expect(await findCheckout(join(folder, "home/.local/state"), facts)).toBeNull();
    await writeFile(join(folder, "home/.config/.git"), "gitdir: x");
    expect(await findCheckout(join(folder, "home/.config/x"), facts)).toBe(join(folder, "home/.config"));
  });
});
