/** One sealed JSON value in the store: what is secret lies there encrypted, bound to its place; the rest is what `list` may show. */
import { isJsonObject, parseJson, type JsonObject } from "../base/json.ts";
import { PortcullisError } from "../errors.ts";
import type { Collection, Documents } from "../store/store.ts";
import type { Vault } from "./vault.ts";

export interface SealedDocuments {
  /** `undefined` where there is none, or where it was sealed with a key that is gone. */
  read(key: string): Promise<JsonObject | undefined>;
  /** Durable when it resolves. @param open what may lie there in clear. */
  write(key: string, secret: JsonObject, open?: JsonObject): Promise<void>;
  delete(key: string): Promise<void>;
}

export function createSealedDocuments(
  collection: Extract<Collection, "tokens" | "credentials">,
  documents: Documents,
  vault: Pick<Vault, "seal" | "open">,
): SealedDocuments {
  const purpose = (key: string): string => `${collection} ${key}`;
  return {
    async read(key) {
      const stored = await documents.get(collection, key);
      const sealed = isJsonObject(stored?.value) ? stored.value["sealed"] : undefined;
      if (typeof sealed !== "string") return undefined;
      try {
        const value = parseJson(vault.open(sealed, purpose(key)));
        return isJsonObject(value) ? value : undefined;
      } catch (error) {
        // As good as none: a login makes it anew.
        if (error instanceof PortcullisError && error.code === "state_unusable") return undefined;
        throw error;
      }
    },
    async write(key, secret, open = {}) {
      await documents.put(collection, key, {
        ...open,
        sealed: vault.seal(JSON.stringify(secret), purpose(key)),
      });
    },
    async delete(key) {
      await documents.delete(collection, key);
    },
  };
}
