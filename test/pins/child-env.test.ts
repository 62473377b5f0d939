/** What of the host's environment a child may see: pinned with literals. A longer list is a decision, not a detail. */
import { describe, expect, it } from "vitest";
import { childEnvironment, passedNames } from "../../src/config/child-env.ts";

const LINUX = [
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "TERM",
  "TMPDIR",
  "TZ",
  "LANG",
  "LC_ALL",
  "LC_CTYPE",
];

const WINDOWS = [
  "PATH",
  "PATHEXT",
  "COMSPEC",
  "SYSTEMROOT",
  "SYSTEMDRIVE",
  "WINDIR",
  "TEMP",
  "TMP",
  "HOMEDRIVE",
  "HOMEPATH",
  "USERPROFILE",
  "USERNAME",
  "APPDATA",
  "LOCALAPPDATA",
  "PROGRAMDATA",
  "PROGRAMFILES",
  "PROGRAMFILES(X86)",
  "PROCESSOR_ARCHITECTURE",
  "NUMBER_OF_PROCESSORS",
  "OS",
];

describe("the environment of a child", () => {
  it("holds these names of the host and no others", () => {
    expect(passedNames("linux")).toEqual(LINUX);
    expect(passedNames("darwin")).toEqual([...LINUX, "__CF_USER_TEXT_ENCODING"]);
    expect(passedNames("win32")).toEqual(WINDOWS);
  });

  it.each(["linux", "darwin", "win32"] as const)(
    "passes nothing else on %s, whatever the entry names",
    (platform) => {
      const host = {
        ...Object.fromEntries(passedNames(platform).map((name) => [name, `value of ${name}`])),
        FAKE_API_KEY: "s3cr3t",
        AWS_SECRET_ACCESS_KEY: "s3cr3t",
        HTTPS_PROXY: "http://me:s3cr3t@proxy",
        NODE_OPTIONS: "--require evil",
        LD_PRELOAD: "evil.so",
        DYLD_INSERT_LIBRARIES: "evil",
        PORTCULLIS_TOKEN: "s3cr3t",
        npm_config_registry: "x",
      };
      for (const entry of [{}, { A: "1" }, { A: "1", B: "2" }]) {
        const environment = childEnvironment({ host, entry, platform });
        expect(Object.keys(environment).toSorted()).toEqual(
          [...passedNames(platform), ...Object.keys(entry)].toSorted(),
        );
      }
    },
  );
});
