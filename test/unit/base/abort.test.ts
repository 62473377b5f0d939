import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { linkAbort, onAbort } from "../../../src/base/abort.ts";

const reason = new Error("enough");

describe("a linked signal", () => {
  it("aborts with the reason of whichever parent aborts first, foreign or linked, at any depth", () => {
    const foreign = new AbortController();
    const parent = linkAbort(foreign.signal);
    const other = linkAbort();
    const child = linkAbort(undefined, parent.signal, other.signal);
    const grandchild = linkAbort(child.signal);
    const heard: string[] = [];
    grandchild.signal.addEventListener("abort", () => heard.push("listener"));
    onAbort(grandchild.signal, (told) => heard.push(told.message));
    foreign.abort(reason);
    for (const { signal } of [parent, child, grandchild]) expect(signal.reason).toBe(reason);
    expect(heard).toEqual(["listener", "enough"]);
    other.abort(new Error("too late"));
    expect(child.signal.reason).toBe(reason);
    expect(other.signal.reason).not.toBe(reason);
  });

  it("is aborted from the start under a parent that is", () => {
    const parent = linkAbort();
    parent.abort(reason);
    expect(linkAbort(parent.signal).signal.reason).toBe(reason);
    expect(linkAbort(AbortSignal.abort(reason)).signal.reason).toBe(reason);
  });

  it("leaves nothing behind once it is cut loose, and one listener before, however many follow", () => {
    const foreign = new AbortController();
    const links = Array.from({ length: 10 }, () => linkAbort(foreign.signal));
    expect(getEventListeners(foreign.signal, "abort")).toHaveLength(1);
    for (const link of links) link.unlink();
    expect(getEventListeners(foreign.signal, "abort")).toHaveLength(0);
    foreign.abort(reason);
    expect(links.some(({ signal }) => signal.aborted)).toBe(false);
  });

  it("may be cut loose, aborted and followed while it tells the others", () => {
    const parent = linkAbort();
    const last = linkAbort(parent.signal);
    const first = linkAbort(parent.signal);
    onAbort(first.signal, () => last.unlink());
    onAbort(parent.signal, () => linkAbort(parent.signal));
    parent.abort(reason);
    parent.abort(new Error("again"));
    expect(first.signal.aborted).toBe(true);
    expect(parent.signal.reason).toBe(reason);
  });
});

describe("listening to a signal", () => {
  it.each([
    ["foreign", () => new AbortController()],
    ["linked", () => linkAbort()],
  ])("of %s make, until it is no longer wanted", (_whose, make) => {
    const owner = make();
    let heard = 0;
    const stop = onAbort(owner.signal, () => (heard += 1));
    onAbort(owner.signal, () => (heard += 10));
    stop();
    stop();
    owner.abort(reason);
    expect(heard).toBe(10);
    expect(getEventListeners(owner.signal, "abort")).toHaveLength(0);
  });
});
