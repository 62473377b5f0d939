import { describe, expect, it } from "vitest";
import {
  classifyListenNotification,
  covers,
  intersectFilters,
  isEmptyFilter,
  readFilter,
  readSubscriptionId,
  unionFilters,
  type ListenState,
} from "../../../src/wire/subscriptions.ts";

const ACK = "notifications/subscriptions/acknowledged";
const TOOLS = "notifications/tools/list_changed";
const waiting: ListenState = {
  kind: "waiting",
  asked: { toolsListChanged: true, resourceSubscriptions: ["file:///a"] },
};
const live: ListenState = {
  kind: "live",
  accepted: { toolsListChanged: true, resourceSubscriptions: ["file:///a"] },
};

describe("classifyListenNotification", () => {
  const rows: readonly (readonly [
    name: string,
    state: ListenState,
    method: string,
    params: object,
    expected: object,
  ])[] = [
    [
      "an acknowledgement",
      waiting,
      ACK,
      { notifications: { toolsListChanged: true } },
      { kind: "acknowledged", accepted: { toolsListChanged: true } },
    ],
    [
      "an acknowledgement of more than was asked for [SUB-01]",
      waiting,
      ACK,
      { notifications: { toolsListChanged: true, promptsListChanged: true } },
      { kind: "acknowledged", accepted: { toolsListChanged: true } },
    ],
    ["an empty acknowledgement", waiting, ACK, {}, { kind: "acknowledged", accepted: {} }],
    ["a second acknowledgement", live, ACK, {}, { kind: "dropped", why: "second-acknowledgement" }],
    ["a change before the acknowledgement [SUB-05]", waiting, TOOLS, {}, { kind: "dropped", why: "early" }],
    [
      "a change that was asked for",
      live,
      TOOLS,
      {},
      { kind: "fact", fact: { kind: "list_changed", list: "tools" } },
    ],
    [
      "a change that was not asked for [SUB-06]",
      live,
      "notifications/prompts/list_changed",
      {},
      { kind: "dropped", why: "unasked" },
    ],
    ["an update", live, "notifications/resources/updated", { uri: "file:///a" }, { kind: "fact" }],
    [
      "an update of a part [SUB-10]",
      live,
      "notifications/resources/updated",
      { uri: "file:///a/b" },
      { kind: "fact" },
    ],
    [
      "an update of a neighbour",
      live,
      "notifications/resources/updated",
      { uri: "file:///ab" },
      { kind: "dropped", why: "unasked" },
    ],
    [
      "an update without an address",
      live,
      "notifications/resources/updated",
      {},
      { kind: "dropped", why: "malformed" },
    ],
    [
      "progress does not belong here [SUB-09]",
      live,
      "notifications/progress",
      {},
      { kind: "dropped", why: "malformed" },
    ],
  ];
  for (const [name, state, method, params, expected] of rows) {
    it(name, () => {
      expect(classifyListenNotification(state, method, params as never)).toMatchObject(expected);
    });
  }
});

describe("filters", () => {
  it("are read without what is unknown", () => {
    expect(
      readFilter({
        toolsListChanged: true,
        promptsListChanged: "yes",
        resourceSubscriptions: ["a", 3],
        other: true,
      }),
    ).toEqual({
      toolsListChanged: true,
      resourceSubscriptions: ["a"],
    });
    expect(readFilter(null)).toEqual({});
  });

  it("are united and intersected", () => {
    const one = { toolsListChanged: true, resourceSubscriptions: ["a", "b"] };
    const other = { promptsListChanged: true, resourceSubscriptions: ["b", "c"] };
    expect(unionFilters([one, other])).toEqual({
      toolsListChanged: true,
      promptsListChanged: true,
      resourceSubscriptions: ["a", "b", "c"],
    });
    expect(intersectFilters(one, other)).toEqual({ resourceSubscriptions: ["b"] });
    expect(isEmptyFilter(intersectFilters(one, {}))).toBe(true);
  });

  it("cover tasks by their id", () => {
    expect(covers({ taskIds: ["t"] }, { kind: "task", params: { taskId: "t" } })).toBe(true);
    expect(covers({ taskIds: ["t"] }, { kind: "task", params: { taskId: "u" } })).toBe(false);
  });

  it("keep the type of the subscription id [SUB-07]", () => {
    const key = "io.modelcontextprotocol/subscriptionId";
    expect(readSubscriptionId({ _meta: { [key]: 1 } })).toBe(1);
    expect(readSubscriptionId({ _meta: { [key]: "1" } })).toBe("1");
    expect(readSubscriptionId({ _meta: { [key]: null } })).toBeUndefined();
    expect(readSubscriptionId(undefined)).toBeUndefined();
  });
});
