/** Resources and prompts, taken in with the same care as results of tools. */
import { isJsonObject, ownProperty } from "../base/json.ts";
import type { Sliced } from "../base/slices.ts";
import type { ContentBlock, ResourceContents } from "../protocol/types.ts";
import { oneLine } from "../text/clean.ts";
import { inspectText } from "../text/scan.ts";
import { placeholder, takeBlock, takeResourceContents } from "./blocks.ts";
import { createTray, finish, type Intake, type IntakeOptions } from "./intake.ts";

export interface ResourceIntake extends Intake {
  /** What could be kept; the same contents stand in `content` as embedded resources. */
  readonly contents: readonly ResourceContents[];
}

interface TakenMessage {
  readonly role: "user" | "assistant";
  readonly content: ContentBlock;
}

export interface PromptIntake extends Intake {
  readonly description: string | null;
  readonly messages: readonly TakenMessage[];
}

const MAX_ITEMS = 1_000;

/** Takes the result of `resources/read` in, in slices where it is large. Never throws. */
export function* resourceIntake(raw: unknown, options: IntakeOptions): Sliced<ResourceIntake> {
  const tray = createTray(options);
  const items = listOf(raw, "contents", tray.problems);
  const contents: ResourceContents[] = [];
  for (const [at, item] of items.slice(0, MAX_ITEMS).entries()) {
    if (at > 0) yield;
    const where = `/contents/${at}`;
    if (!isJsonObject(item)) {
      tray.problems.push(`${where}: no object`);
      tray.content.push(placeholder("resource", "a resource without content"));
      continue;
    }
    const taken = yield* takeResourceContents(item, where, tray);
    if (taken === null) continue;
    contents.push(taken);
    tray.content.push({ type: "resource", resource: taken });
  }
  noteMore(items, tray.problems);
  if (tray.content.length === 0) {
    tray.content.push(placeholder("empty", "the resource is empty"));
    tray.modelParts.push("[the resource is empty]");
  }
  return {
    ...finish(
      "resource",
      tray,
      options,
      false,
      undefined,
      isJsonObject(raw) ? ownProperty(raw, "_meta") : undefined,
    ),
    contents,
  };
}

/**
 * Takes the result of `prompts/get` in, in slices where it is large. A prompt's messages are a server's text too, whatever role
 * they claim. Never throws.
 */
export function* promptIntake(raw: unknown, options: IntakeOptions): Sliced<PromptIntake> {
  const tray = createTray(options);
  const said = isJsonObject(raw) ? ownProperty(raw, "description") : undefined;
  const description = typeof said === "string" ? oneLine(tray.redactor.redactValues(said), 1_000) : null;
  if (description !== null) tray.findings.push(...inspectText(description, "/description"));
  const items = listOf(raw, "messages", tray.problems);
  const messages: TakenMessage[] = [];
  for (const [at, item] of items.slice(0, MAX_ITEMS).entries()) {
    if (at > 0) yield;
    const role = isJsonObject(item) && ownProperty(item, "role") === "assistant" ? "assistant" : "user";
    const before = tray.content.length;
    tray.modelParts.push(`[${role}]`);
    const content = isJsonObject(item) ? ownProperty(item, "content") : item;
    // Some servers send a list of blocks per message; each becomes a message of its own.
    for (const block of Array.isArray(content) ? content.slice(0, MAX_ITEMS) : [content])
      yield* takeBlock(block, `/messages/${at}/content`, tray);
    for (const block of tray.content.slice(before)) messages.push({ role, content: block });
  }
  noteMore(items, tray.problems);
  const meta = isJsonObject(raw) ? ownProperty(raw, "_meta") : undefined;
  return { ...finish("prompt", tray, options, false, undefined, meta), description, messages };
}

function listOf(raw: unknown, name: string, problems: string[]): readonly unknown[] {
  const list = isJsonObject(raw) ? ownProperty(raw, name) : undefined;
  if (Array.isArray(list)) return list as unknown[];
  problems.push(`the result has no list of ${name}`);
  return [];
}

function noteMore(items: readonly unknown[], problems: string[]): void {
  if (items.length > MAX_ITEMS) problems.push(`${items.length - MAX_ITEMS} more items were left out`);
}
