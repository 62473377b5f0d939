/** Clauses about documents. */
import assert from "node:assert/strict";
import { isJsonObject, type JsonValue } from "../../base/json.ts";
import type { ContractCase } from "../contract.ts";
import type { Store } from "../store.ts";

const PAST = 1_000;
const FAR_FUTURE = 9_000_000_000_000;

const values: readonly JsonValue[] = [
  null,
  false,
  0,
  -1.5,
  "",
  'tab\t, quote", nul\u0000, \u{1f600}, lone \ud800',
  [],
  [1, [2, [3, {}]]],
  { a: { b: [null, true] }, "": 1, constructor: "x" },
  JSON.parse('{"__proto__":{"polluted":true}}') as JsonValue,
  "x".repeat(300_000),
];

async function incrementInTurn(store: Store, times: number): Promise<void> {
  for (let done = 0; done < times;) {
    const found = await store.documents.get("breakers", "counter");
    const count = typeof found?.value === "number" ? found.value : 0;
    const put = await store.documents.put("breakers", "counter", count + 1, {
      ifVersion: found?.version ?? 0,
      durable: false,
    });
    if (put !== undefined) done += 1;
  }
}

export const documentCases: readonly ContractCase[] = [
  {
    name: "a document that was never put is undefined",
    async run(stores) {
      const { documents } = await stores.open();
      assert.equal(await documents.get("pins", "nothing"), undefined);
      assert.deepEqual(await documents.list("pins"), []);
      assert.equal(await documents.delete("pins", "nothing"), false);
    },
  },
  {
    name: "every JSON value comes back as it was put",
    async run(stores) {
      const { documents } = await stores.open();
      for (const [at, value] of values.entries()) {
        const put = await documents.put("catalogs", `value ${at}`, value);
        const got = await documents.get("catalogs", `value ${at}`);
        assert.equal(JSON.stringify(got?.value), JSON.stringify(value));
        assert.deepEqual(got, put);
      }
      assert.equal(({} as { polluted?: unknown }).polluted, undefined);
    },
  },
  {
    name: "what is stored does not change with the caller's object",
    async run(stores) {
      const { documents } = await stores.open();
      const value = { list: [1] };
      const putting = documents.put("catalogs", "own", value);
      value.list.push(2);
      const put = await putting;
      value.list.push(3);
      assert.deepEqual(put?.value, { list: [1] });
      const first = await documents.get("catalogs", "own");
      assert.deepEqual(first?.value, { list: [1] });
      if (isJsonObject(first?.value)) Object.assign(first.value, { list: "changed" });
      assert.deepEqual((await documents.get("catalogs", "own"))?.value, { list: [1] });
    },
  },
  {
    name: "a version starts at 1, grows by 1, and starts again after a deletion",
    async run(stores) {
      const { documents } = await stores.open();
      for (const version of [1, 2, 3])
        assert.equal((await documents.put("eras", "a", version))?.version, version);
      assert.equal((await documents.put("eras", "b", 0))?.version, 1);
      assert.equal(await documents.delete("eras", "a"), true);
      assert.equal(await documents.get("eras", "a"), undefined);
      assert.equal((await documents.put("eras", "a", 0))?.version, 1);
    },
  },
  {
    name: "ifVersion writes and deletes only what has that version; 0 only what is not there",
    async run(stores) {
      const { documents } = await stores.open();
      assert.equal(await documents.put("approvals", "a", "x", { ifVersion: 1 }), undefined);
      assert.equal(await documents.get("approvals", "a"), undefined);
      assert.equal((await documents.put("approvals", "a", "first", { ifVersion: 0 }))?.version, 1);
      assert.equal(await documents.put("approvals", "a", "again", { ifVersion: 0 }), undefined);
      assert.equal((await documents.put("approvals", "a", "second", { ifVersion: 1 }))?.version, 2);
      assert.equal(await documents.put("approvals", "a", "stale", { ifVersion: 1 }), undefined);
      assert.equal(await documents.delete("approvals", "a", 1), false);
      assert.equal((await documents.get("approvals", "a"))?.value, "second");
      assert.equal(await documents.delete("approvals", "a", 2), true);
      assert.equal(await documents.delete("approvals", "a", 2), false);
    },
  },
  {
    name: "of many that create the same document at once exactly one wins, across stores",
    async run(stores) {
      const one = await stores.open();
      const other = await stores.openOther();
      const puts = await Promise.all(
        Array.from({ length: 20 }, (_, at) =>
          (at % 2 === 0 ? one : other).documents.put("approvals", "race", at, { ifVersion: 0 }),
        ),
      );
      const won = puts.filter((put) => put !== undefined);
      assert.equal(won.length, 1);
      assert.deepEqual((await one.documents.get("approvals", "race"))?.value, won[0]?.value);
    },
  },
  {
    name: "compare-and-set loses no increment, across stores",
    async run(stores) {
      const one = await stores.open();
      const other = await stores.openOther();
      await Promise.all([incrementInTurn(one, 50), incrementInTurn(other, 50)]);
      const counter = await one.documents.get("breakers", "counter");
      assert.equal(counter?.value, 100);
      assert.equal(counter?.version, 100);
    },
  },
  {
    name: "an acknowledged put is seen by every store at once, durable or not",
    async run(stores) {
      const one = await stores.open();
      const other = await stores.openOther();
      await one.documents.put("health", "durable", 1);
      assert.equal((await other.documents.get("health", "durable"))?.value, 1);
      await other.documents.put("health", "light", 2, { durable: false });
      assert.equal((await one.documents.get("health", "light"))?.value, 2);
      await one.documents.delete("health", "light");
      assert.equal(await other.documents.get("health", "light"), undefined);
    },
  },
  {
    name: "a list is in the order of the keys, holds one collection only, and takes prefixes literally",
    async run(stores) {
      const { documents } = await stores.open();
      const keys = [
        "a%c",
        "a_c",
        "abc",
        "ab",
        "b",
        "\u00e9",
        "\u{1f600}",
        "a",
        "a\u{10ffff}",
        "a\u{10ffff}z",
      ];
      for (const key of keys) await documents.put("trust", key, key);
      await documents.put("paused", "abc", "of another collection");
      const listed = await documents.list("trust");
      const inOrder = [...keys].sort((x, y) => Buffer.compare(Buffer.from(x), Buffer.from(y)));
      assert.deepEqual(
        listed.map(({ key }) => key),
        inOrder,
      );
      const keysWith = async (prefix: string): Promise<string[]> =>
        (await documents.list("trust", prefix)).map(({ key }) => key);
      assert.deepEqual(await keysWith("a%"), ["a%c"]);
      assert.deepEqual(await keysWith("a_"), ["a_c"]);
      assert.deepEqual(await keysWith("ab"), ["ab", "abc"]);
      assert.deepEqual(await keysWith("a\u{10ffff}"), ["a\u{10ffff}", "a\u{10ffff}z"]);
      assert.deepEqual(await keysWith("nothing"), []);
    },
  },
  {
    name: "a document that ran out is as good as gone",
    async run(stores) {
      const { documents } = await stores.open();
      await documents.put("grants", "old", 1, { expiresAt: PAST });
      await documents.put("grants", "new", 2, { expiresAt: FAR_FUTURE });
      assert.equal(await documents.get("grants", "old"), undefined);
      assert.deepEqual(
        (await documents.list("grants")).map(({ key }) => key),
        ["new"],
      );
      assert.equal((await documents.get("grants", "new"))?.expiresAt, FAR_FUTURE);
      assert.equal(await documents.delete("grants", "old"), false);
      assert.equal(await documents.put("grants", "old", 3, { ifVersion: 1 }), undefined);
      const again = await documents.put("grants", "old", 3, { ifVersion: 0 });
      assert.equal(again?.version, 1);
      assert.equal(again?.expiresAt, null);
    },
  },
  {
    name: "keys are taken as they are, whatever is in them",
    async run(stores) {
      const { documents } = await stores.open();
      const keys = [
        "",
        "\u0000",
        "\u0000a",
        "\u0001",
        "\u0001\u0001",
        " ",
        "A",
        "a",
        "e\u0301",
        "nul\u0000a",
        "nul\u0000b",
        "\u00e9",
      ];
      const halves = ["\ud800", "\ud801", "a\udc00"];
      for (const key of [...keys, ...halves]) {
        await documents.put("rests", key, key);
        assert.equal((await documents.get("rests", key))?.key, key);
      }
      const listed = await documents.list("rests");
      for (const { key, value } of listed) assert.equal(value, key);
      const isWhole = (key: string): boolean => !halves.includes(key);
      assert.deepEqual(listed.map(({ key }) => key).filter(isWhole), keys);
      assert.deepEqual(
        (await documents.list("rests", "\u0000")).map(({ key }) => key),
        ["\u0000", "\u0000a"],
      );
      for (const { key } of listed) assert.equal(await documents.delete("rests", key), true);
    },
  },
];
