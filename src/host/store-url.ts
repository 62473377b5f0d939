/** The URL of a shared store, resolved late like every text that may hold a secret. */
import type { LateText } from "../config/compiled.ts";
import { parseTemplate } from "../config/references.ts";
import { resolveLate, type LateResolver, type ResolvedText } from "../config/secrets.ts";

const WHERE = "store";

/**
 * What stands for a user or a password is percent-encoded here, so that a password may hold anything; a reference that stands for
 * the whole URL, or for a host, is taken as it is.
 *
 * @throws PortcullisError `secret_unresolved`, `config_invalid`.
 */
export async function resolveStoreUrl(late: LateText, resolver: LateResolver): Promise<ResolvedText> {
  const parsed = parseTemplate(late.reveal?.() ?? late.template);
  // Says what is wrong with it.
  if (!parsed.ok) return resolveLate(late, resolver, WHERE);
  const secrets = new Set<string>();
  let value = "";
  for (const [index, part] of parsed.parts.entries()) {
    if (part.kind === "text") {
      value += part.text;
      continue;
    }
    const resolved = await resolveLate({ template: part.source }, resolver, WHERE);
    for (const secret of resolved.secrets) secrets.add(secret);
    const isBeforeHost = parsed.parts
      .slice(index + 1)
      .some((later) => later.kind === "text" && later.text.includes("@"));
    value += isBeforeHost ? encodeURIComponent(resolved.value) : resolved.value;
  }
  const password = URL.canParse(value) ? new URL(value).password : "";
  if (password !== "") secrets.add(password);
  return { value, secrets: [...secrets] };
}
