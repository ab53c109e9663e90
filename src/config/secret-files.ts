import { accessSync, constants, readdirSync, readFileSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { checkOwnership, type ProcessAccount } from '#platform/base/ownership.ts';
import { isErrno, systemReason } from '#platform/base/system-errors.ts';
import type { Problem } from '#platform/config/problems.ts';
import type { Hints } from '#platform/config/shape.ts';
import { mappingOf, type Shape } from '#platform/config/shape.ts';
import { transform, transformRoot } from '#platform/config/transform.ts';
import { type Entry, type MappingNode, type Node, nodeAt, type Path, pathText } from '#platform/config/tree.ts';
import { BASE64_PREFIX } from './sections/base64-prefix.ts';
import { isKeyFileName } from './sections/key-file-names.ts';
import type { KeyFile } from './sections/secrets.ts';

const MAX_BYTES = 64 * 1024;
/** Database URIs are secrets because they may contain a password. This matches those that do not. */
const ADDRESS_WITHOUT_PASSWORD = /^(?:embedded:|postgres(?:ql)?:\/\/(?!.*(?::[^/@]*@|[?&]password=)))/;
const WRITE_BITS = 0o222;
const KEYS_DIR = ['secrets', 'keys_dir'];

/** Reads the secret files named in the configuration and collects their problems. */
export class SecretFiles {
  readonly problems: Problem[] = [];
  readonly warnings: string[] = [];
  /**
   * Keys whose value is unknown, and the mappings that contain them. Errors about their absence are misleading and not
   * reported.
   */
  readonly unread = new Set<string>();

  readonly #account: ProcessAccount | undefined;

  constructor(account: ProcessAccount | undefined) {
    this.#account = account;
  }

  /**
   * Returns the tree with each `k_file` replaced by its content at `k`, and each `{file}` in a list of secrets by its
   * content.
   */
  contents(root: MappingNode, shape: Shape): MappingNode {
    return transformRoot(root, shape, (node, nodeShape, path) => {
      if (node.kind !== 'mapping') return node;
      if (nodeShape.kind === 'scalar') return this.#listed(node, nodeShape, path);
      return this.#withoutTwins(node, nodeShape, path);
    });
  }

  /** Returns the keys of `secrets.keys_dir`, sorted by name in byte order. */
  keyDirectory(root: MappingNode): readonly KeyFile[] {
    const node = nodeAt(root, KEYS_DIR);
    if (node?.kind !== 'scalar' || typeof node.value !== 'string') return [];
    const directory = node.value;
    let names: string[];
    try {
      if (!this.#isTrusted(directory, statSync(directory), KEYS_DIR, node)) return [];
      names = readdirSync(directory);
    } catch (error) {
      this.#report(KEYS_DIR, `cannot read the directory ${directory}: ${systemReason(error)}`, node);
      return [];
    }
    return names
      .filter(isKeyFileName)
      .sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)))
      .map((name) => join(directory, name))
      .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true)
      .flatMap((path) => {
        const content = this.#read(path, { binary: true }, KEYS_DIR, node);
        return content === undefined ? [] : [{ path, content }];
      });
  }

  #listed(node: MappingNode, shape: Shape, path: Path): Node {
    const file = node.entries.get('file')?.value;
    if (shape.hints.secret !== true || file?.kind !== 'scalar' || typeof file.value !== 'string') return node;
    const content = this.#read(file.value, { trimmed: true }, [...path, 'file'], file);
    return content === undefined ? node : { ...file, value: content };
  }

  #withoutTwins(node: MappingNode, shape: Shape, path: Path): MappingNode {
    const entries = new Map(node.entries);
    for (const [fileKey, { hints }] of mappingOf(shape)?.keys ?? []) {
      const key = hints.fileOf;
      const entry = entries.get(fileKey);
      if (key === undefined || entry === undefined) continue;
      if (this.#isOverruled(entry, entries.get(key), [...path, key], [...path, fileKey])) {
        entries.delete(fileKey);
        continue;
      }
      // The schema check reports anything but a path.
      if (entry.value.kind !== 'scalar' || typeof entry.value.value !== 'string') continue;
      const keyHints = mappingOf(shape)?.keys.get(key)?.hints ?? {};
      const content = this.#read(entry.value.value, keyHints, [...path, fileKey], entry.value);
      if (content === undefined) {
        this.unread.add(pathText(path)).add(pathText([...path, key]));
        continue;
      }
      entries.delete(fileKey);
      entries.set(key, { at: entry.at, value: { ...entry.value, value: content } });
    }
    return { ...node, entries };
  }

  /**
   * A key and its `_file` twin are one setting: the source with higher precedence wins. Setting both in one source is
   * an error.
   */
  #isOverruled(file: Entry, direct: Entry | undefined, key: Path, fileKey: Path): boolean {
    if (direct === undefined || direct.at.rank < file.at.rank) return false;
    if (direct.at.rank === file.at.rank) {
      const message = `set together with "${pathText(fileKey)}"; set only one of the two`;
      this.problems.push({ key: pathText(key), message, at: direct.at });
    }
    return true;
  }

  #read(path: string, hints: Hints, key: Path, node: Node): string | undefined {
    let bytes: Buffer;
    let stats: Stats;
    try {
      stats = statSync(path);
      if (stats.size > MAX_BYTES) return this.#report(key, `the file ${path} is larger than 64 KiB`, node);
      bytes = readFileSync(path);
    } catch (error) {
      return this.#report(key, `cannot read the file ${path}: ${systemReason(error)}`, node);
    }
    if (bytes.length > MAX_BYTES) return this.#report(key, `the file ${path} is larger than 64 KiB`, node);
    if (!this.#isTrusted(path, stats, key, node, hints)) return undefined;
    if (hints.bytes === true) return BASE64_PREFIX + bytes.toString('base64');
    if (hints.binary === true && !bytes.includes('-----BEGIN')) return BASE64_PREFIX + bytes.toString('base64');
    const text = bytes.toString('utf8');
    return hints.trimmed === true ? text.trim() : text.replace(/\r?\n$/, '');
  }

  /** Returns true if no other account can change the file or the key directory. */
  #isTrusted(path: string, { mode, uid, gid }: Stats, key: Path, node: Node, hints: Hints = {}): boolean {
    // Orchestrators mount secrets on read-only file systems in directories with world-writable modes.
    const effective = isReadOnly(path) ? mode & ~WRITE_BITS : mode;
    const { error, warning } = checkOwnership(path, { mode: effective, uid, gid }, this.#account);
    if (error !== undefined) this.#report(key, error, node);
    if (warning !== undefined && hints.isPublic !== true) this.warnings.push(`${pathText(key)}: ${warning}`);
    return error === undefined;
  }

  #report(key: Path, message: string, node: Node): undefined {
    this.problems.push({ key: pathText(key), message, at: node.at });
  }
}

/** Returns true if the file system is read-only for every user. */
function isReadOnly(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return false;
  } catch (error) {
    return isErrno(error, 'EROFS');
  }
}

/** Returns true if a file contains a secret itself rather than the path of a secret file. */
export function holdsSecrets(root: Node, shape: Shape): boolean {
  let isFound = false;
  transform(root, shape, (node, { hints }) => {
    const text = node.kind === 'scalar' && typeof node.value === 'string' ? node.value : '';
    isFound ||= hints.secret === true && text !== '' && !ADDRESS_WITHOUT_PASSWORD.test(text);
    return node;
  });
  return isFound;
}
