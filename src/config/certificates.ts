/** Further certificate authorities (`egress.certificates`): PEM files, read when a port is made and checked to be certificates. */
import { X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { PortcullisError } from "../errors.ts";
import { describeFileError, describeNoFile } from "./file-kind.ts";

const MAX_BYTES = 4 * 1024 * 1024;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]{1,100000}-----END CERTIFICATE-----/g;

/**
 * The certificates in `files`, each as a PEM text of its own, as an HTTP port takes them; nothing where there are none.
 *
 * @throws PortcullisError `config_invalid` that names the file: it cannot be read, holds no certificate, or one that is broken.
 */
export function readCertificates(files: readonly string[]): {
  readonly tls?: { readonly ca: readonly string[] };
} {
  return files.length === 0 ? {} : { tls: { ca: files.flatMap(readOne) } };
}

function readOne(file: string): readonly string[] {
  const fail = (why: string, cause?: unknown): PortcullisError =>
    new PortcullisError("config_invalid", `egress.certificates: \`${file}\` ${why}`, { cause });
  let text: string;
  try {
    const noFile = describeNoFile(statSync(file));
    if (noFile !== undefined) throw fail(noFile);
    text = readFileSync(file).subarray(0, MAX_BYTES).toString("latin1");
  } catch (error) {
    if (error instanceof PortcullisError) throw error;
    throw fail(describeFileError(error), error);
  }
  const certificates = text.match(CERTIFICATE) ?? [];
  if (certificates.length === 0) throw fail("holds no certificate (`-----BEGIN CERTIFICATE-----`)");
  for (const certificate of certificates) {
    try {
      void new X509Certificate(certificate);
    } catch (error) {
      throw fail("holds a certificate that is broken", error);
    }
  }
  return certificates;
}
