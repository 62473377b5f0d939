/**
 * Seals what must not lie on disk in clear: tokens, arguments of pending approvals, last good results, paged rests.
 *
 * AES-256-GCM (NIST SP 800-38D) with a random 96-bit nonce per message; the purpose is bound in as additional data, so
 * that a sealed value cannot be moved to another place. The key is a 0600 file in the state directory unless one is given.
 */
import { createCipheriv, createDecipheriv } from "node:crypto";
import {
  closeSync,
  constants,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { errnoReason } from "../base/errno.ts";
import { randomId, type Random } from "../base/random.ts";
import { PortcullisError } from "../errors.ts";

export interface Vault {
  /** What holds the key, for `doctor`: `key file` or `given`. */
  readonly protectedBy: "key file" | "given";
  /** @param purpose where the value belongs, for example `approval 7f…`; the same must be given to `open`. */
  seal(plain: string, purpose: string): string;
  /** @throws PortcullisError `state_unusable` where the value was changed, moved, or sealed with another key. */
  open(sealed: string, purpose: string): string;
}

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const VERSION = "v1.";

export interface VaultOptions {
  /** The state directory (0700). */
  readonly dir: string;
  readonly random: Random;
  /** 32 bytes; without it the key file of `dir` is read, or made. */
  readonly key?: Uint8Array;
}

/** The key file of a state directory. */
export function vaultKeyPath(dir: string): string {
  return join(dir, "vault.key");
}

/** @throws PortcullisError `state_unusable` for a key file that others may read or we may not, or of a wrong length. */
export function openVault(options: VaultOptions): Vault {
  const { random } = options;
  const key =
    options.key === undefined ? readOrMakeKey(vaultKeyPath(options.dir), random) : Buffer.from(options.key);
  if (key.length !== KEY_BYTES) {
    throw new PortcullisError("state_unusable", `the vault's key has ${key.length} bytes, not ${KEY_BYTES}`);
  }
  return {
    protectedBy: options.key === undefined ? "key file" : "given",
    seal(plain, purpose) {
      const nonce = random.bytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(purpose));
      const body = Buffer.concat([cipher.update(plain, "utf8"), cipher.final()]);
      return VERSION + Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64url");
    },
    open(sealed, purpose) {
      const bytes = Buffer.from(sealed.startsWith(VERSION) ? sealed.slice(VERSION.length) : "", "base64url");
      try {
        const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE_BYTES))
          .setAAD(Buffer.from(purpose))
          .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
        return (
          decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, "utf8") + decipher.final("utf8")
        );
      } catch (cause) {
        throw new PortcullisError(
          "state_unusable",
          "a sealed value cannot be opened: it was changed, or sealed with another key",
          {
            cause,
          },
        );
      }
    },
  };
}

function readOrMakeKey(file: string, random: Random): Buffer {
  const known = readVaultKey(file);
  if (known !== undefined) return known;
  try {
    makeKey(file, random);
  } catch (cause) {
    throw unusable(file, `could not be made: ${errnoReason(cause)}`, cause);
  }
  const made = readVaultKey(file);
  if (made === undefined) throw unusable(file, "could not be made");
  return made;
}

/** Written aside and linked into place, so that of several processes at once exactly one key wins, whole. */
function makeKey(file: string, random: Random): void {
  const draft = `${file}.${randomId(random)}`;
  const fd = openSync(draft, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o600);
  try {
    try {
      writeSync(fd, random.bytes(KEY_BYTES));
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    unlinkSync(draft);
  }
}

/**
 * The key in `file`; `undefined` where there is no such file.
 *
 * @throws PortcullisError `state_unusable` where it is no key, others may read it, or we may not.
 */
export function readVaultKey(file: string): Buffer | undefined {
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    if (found === undefined) return undefined;
    // A pipe would be waited for.
    if (!found.isFile()) throw unusable(file, "is not a file");
    if (process.platform !== "win32" && (found.mode & 0o077) !== 0) {
      throw new PortcullisError(
        "state_unusable",
        `others may read the vault's key \`${file}\`: run \`chmod 600\` on it`,
      );
    }
    const key = readFileSync(file);
    if (key.length === KEY_BYTES) return key;
    throw unusable(
      file,
      `has ${key.length} bytes, not ${KEY_BYTES}: put a copy back, or move it away, and what it sealed (logins, pending approvals) is asked for again`,
    );
  } catch (error) {
    if (error instanceof PortcullisError) throw error;
    throw unusable(file, `cannot be read: ${errnoReason(error)}`, error);
  }
}

function unusable(file: string, why: string, cause?: unknown): PortcullisError {
  return new PortcullisError("state_unusable", `the vault's key \`${file}\` ${why}`, { cause });
}
