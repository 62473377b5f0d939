/**
 * The frame around a server's text in the model's channel: an opening and a closing mark with a random tag, between a line of
 * ours that says what it is and, where needed, one that says what to do next. Nothing inside can close it: the tag is drawn
 * after the text came, does not occur in it, and look-alikes of the mark lose their bracket.
 */
import type { Random } from "../base/random.ts";
import { oneLine } from "../text/clean.ts";

/** 64 unpredictable bits per frame. */
const TAG_BYTES = 8;
const POOL_BYTES = 512;
/** A tag that occurs in the text already was not drawn by chance; a few new ones are drawn, then the text is changed. */
const MAX_DRAWS = 4;

/** Draws tags, from a small pool so that a frame does not cost a call into the generator. */
export function createTagSource(random: Random): () => string {
  let pool: Buffer = Buffer.alloc(0);
  let at = 0;
  return () => {
    if (at + TAG_BYTES > pool.length) {
      pool = random.bytes(POOL_BYTES);
      at = 0;
    }
    const tag = pool.toString("hex", at, at + TAG_BYTES);
    at += TAG_BYTES;
    return tag;
  };
}

/** Anything that a model could take for one of our marks. */
const MARK_LIKE = /[<＜﹤‹〈⟨]\s{0,4}[/／]?\s{0,4}(?=untrusted)/giu;

/**
 * `head`, the framed `body`, `tail`; `head` and `tail` are ours, `body` is already cleaned for models.
 * @param drawTag from `createTagSource`.
 */
export function frameText(drawTag: () => string, head: string, body: string, tail: string): string {
  let inner = body.includes("ntrusted") || /untrusted/i.test(body) ? body.replace(MARK_LIKE, "[") : body;
  let tag = drawTag();
  for (let draw = 1; inner.includes(tag); draw += 1) {
    if (draw >= MAX_DRAWS) inner = inner.replaceAll(tag, "");
    else tag = drawTag();
  }
  const end = tail === "" ? "" : `\n${tail}`;
  return `${head}\n<untrusted ${tag}>\n${inner}\n</untrusted ${tag}>${end}`;
}

/** A server's or tool's name inside a line of ours: one line, no quotation marks, short. */
export function quoteName(name: string): string {
  return `\`${oneLine(name, 128).replace(/[`<>]/g, "'")}\``;
}
