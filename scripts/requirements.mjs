/** `node scripts/requirements.mjs [AREA …]`: what became of each duty of the specification, counted by area, and what is open. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { requirements } from "../test/e2e/requirements.ts";

const tests = join(import.meta.dirname, "../test");
const cited = new Set(
  readdirSync(tests, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".test.ts"))
    .flatMap((file) =>
      [...readFileSync(join(tests, file), "utf8").matchAll(/\[([A-Z]{2,5}-\d{2})\]/g)].map(([, id]) => id),
    ),
);
const stateOf = ({ id, status }) => {
  if (cited.has(id)) return "shown";
  if ("notOurs" in status) return "not ours";
  return "open" in status ? "open" : "not cited";
};
const wanted = process.argv.slice(2);
const states = ["shown", "not ours", "open", "not cited"];

console.log(`area    rows  ${states.join("  ")}`);
for (const [area, rows] of Object.entries(Object.groupBy(requirements, ({ area }) => area))) {
  const counts = states.map((state) =>
    String(rows.filter((row) => stateOf(row) === state).length).padStart(state.length),
  );
  console.log(`${area.padEnd(6)}  ${String(rows.length).padStart(4)}  ${counts.join("  ")}`);
}
for (const row of requirements.filter(({ area }) => wanted.includes(area))) {
  const note =
    "open" in row.status
      ? ` (${row.status.open})`
      : "notOurs" in row.status
        ? ` (${row.status.notOurs})`
        : "";
  console.log(
    `${stateOf(row).padEnd(9)}  ${row.id.padEnd(8)}  ${row.strength.padEnd(10)}  ${row.requirement}${note}`,
  );
}
