/** `manifest.json`, the first file of a backup: lists the other files. Unlisted files are rejected. */
import { z } from 'zod';
import { MAX_PART_BYTES } from '#platform/postgres/dump/snapshot.ts';

export const MANIFEST_NAME = 'manifest.json';
export const MAX_MANIFEST_BYTES = 16 * 1024 * 1024;
export const ENCRYPTION_KEY_NAME = 'secrets/encryption.key';
export const NEXT_ENCRYPTION_KEY_NAME = 'secrets/encryption.next.key';
/** One key per line. */
export const PREVIOUS_ENCRYPTION_KEYS_NAME = 'secrets/encryption.previous';
const MAX_SECRET_BYTES = 64 * 1024;
const FORMAT = 1;

const sha256Hex = z.string().regex(/^[0-9a-f]{64}$/);
const identifier = z.string().min(1).max(63);
const count = z.int().min(0);

const part = z.strictObject({
  name: z.string().regex(/^tables\/[a-z0-9_]{1,63}\/[0-9]{6}\.copy$/),
  bytes: z.int().min(1).max(MAX_PART_BYTES),
  sha256: sha256Hex,
  rows: count,
});

const table = z.strictObject({
  name: identifier,
  columns: z.array(identifier).min(1),
  rows: count,
  parts: z.array(part),
});

const secret = z.strictObject({
  name: z.string().regex(/^secrets\/(?:encryption\.(?:key|next\.key|previous)|keys\/[^/.\p{Cc}][^/\p{Cc}]{0,63})$/u),
  bytes: z.int().min(1).max(MAX_SECRET_BYTES),
  sha256: sha256Hex,
});

const manifest = z.strictObject({
  format: z.literal(FORMAT),
  /** Version of the program that wrote the backup. */
  version: z.string(),
  created_at: z.iso.datetime(),
  /** Public base of the service. */
  public_base: z.string(),
  migrations: z.array(z.strictObject({ version: z.int().min(1), name: z.string(), checksum: sha256Hex })).min(1),
  /** Check values of the root keys in use, in hexadecimal. */
  encryption_key_checks: z.array(sha256Hex),
  tables: z.array(table).min(1),
  /** Tables whose rows are not included: they describe running processes, or may be lost at any time. */
  left_out: z.array(identifier),
  secrets: z.array(secret),
});

export type Manifest = z.infer<typeof manifest>;
export type ManifestTable = Manifest['tables'][number];

/** A file of a backup as listed in its manifest. */
export interface ListedFile {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

type ParsedManifest =
  | { readonly ok: true; readonly manifest: Manifest }
  | { readonly ok: false; readonly problem: string };

/** Parses the manifest, or returns its problem. */
export function parseManifest(content: Buffer): ParsedManifest {
  let document: unknown;
  try {
    document = JSON.parse(content.toString('utf8'));
  } catch {
    return { ok: false, problem: `${MANIFEST_NAME} is not valid JSON` };
  }
  if (typeof document === 'object' && document !== null && 'format' in document && document.format !== FORMAT) {
    return { ok: false, problem: 'its format is unknown to this version; restore it with the version that wrote it' };
  }
  const parsed = manifest.safeParse(document);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return { ok: false, problem: `${MANIFEST_NAME}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}` };
  }
  return { ok: true, manifest: parsed.data };
}

export function newManifest(facts: Omit<Manifest, 'format'>): Manifest {
  return { format: FORMAT, ...facts };
}

/** Returns the files in archive order. */
export function listedFiles({ secrets, tables }: Manifest): readonly ListedFile[] {
  return [...secrets, ...tables.flatMap(({ parts }) => parts)];
}

/** Returns the fields shown to operators. */
export function summaryOf({ created_at, tables, version }: Manifest) {
  return { version, created_at, tables: tables.length, rows: tables.reduce((sum, { rows }) => sum + rows, 0) };
}
