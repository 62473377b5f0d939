/** Names that were probably meant by one that does not exist. */
import { editDistance } from "../jsonschema/issues.ts";
import { NAME_SEPARATOR } from "./naming.ts";

const MAX_NEAR = 3;
const MAX_COMPARED = 2_000;

/**
 * At most three of `names`, nearest first: the same tool of any server, else those within a third of the length in edits, of the
 * whole name or of the tool's part alone.
 */
export function nearestNames(wanted: string, names: readonly string[]): readonly string[] {
  if (wanted.length > 200) return [];
  const whole = wanted.toLowerCase();
  const tool = toolPart(whole);
  const limit = Math.max(2, Math.floor(tool.length / 3)) + 1;
  const near: { readonly name: string; readonly distance: number }[] = [];
  let compared = 0;
  for (const name of names) {
    const candidate = name.toLowerCase();
    const candidateTool = toolPart(candidate);
    if (candidateTool === tool) {
      near.push({ name, distance: candidate === whole ? 0 : 0.5 });
      continue;
    }
    if (Math.abs(candidateTool.length - tool.length) >= limit || compared >= MAX_COMPARED) continue;
    compared += 1;
    const distance = editDistance(tool, candidateTool, limit);
    if (distance < limit)
      near.push({ name, distance: distance + (sharesServer(whole, candidate) ? 0 : 0.5) });
  }
  return near
    .sort((one, other) => one.distance - other.distance || (one.name < other.name ? -1 : 1))
    .slice(0, MAX_NEAR)
    .map(({ name }) => name);
}

function toolPart(name: string): string {
  const at = name.indexOf(NAME_SEPARATOR);
  return at < 0 ? name : name.slice(at + NAME_SEPARATOR.length);
}

function sharesServer(one: string, other: string): boolean {
  return one.slice(0, one.indexOf(NAME_SEPARATOR)) === other.slice(0, other.indexOf(NAME_SEPARATOR));
}
