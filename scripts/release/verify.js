import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { say } from '../steps/say.js';
import { extractTar } from './archive-files.js';
import { CHECKSUMS, PUBLIC_KEY } from './build-artifacts.js';
import { sha256 } from './digest.js';
import { openEnvelope, readPublicKey, verifyFile } from './signing-key.js';
import { STATEMENT_TYPE } from './statements.js';

/**
 * Verifies the files of a release: the signature of the checksums, each checksum, the provenance and the digests in the
 * image. Files without a checksum are errors.
 * @param publicKey text of the trusted key; the one in the folder proves only that the files belong together
 */
export function verifyArtifacts(folder, publicKey) {
  const key = readPublicKey(publicKey);
  const signature = readFileSync(join(folder, `${CHECKSUMS}.minisig`), 'utf8');
  const comment = verifyFile(join(folder, CHECKSUMS), signature, key);
  const sums = readChecksums(join(folder, CHECKSUMS));
  for (const name of readdirSync(folder)) {
    if (!sums.has(name) && ![CHECKSUMS, `${CHECKSUMS}.minisig`, PUBLIC_KEY].includes(name)) {
      throw new Error(`${name} has no checksum`);
    }
  }
  for (const [name, sum] of sums) {
    const found = sha256(join(folder, name));
    if (found !== sum) throw new Error(`${name} has the SHA-256 ${found}, ${CHECKSUMS} says ${sum}`);
  }
  verifyProvenance(folder, sums, key);
  const image = [...sums.keys()].find((name) => name.endsWith('-oci.tar'));
  const layers = verifyImage(join(folder, image));
  say(`${comment}: ${sums.size} files, signature, provenance and ${layers} layers of the image verified`);
}

function readChecksums(path) {
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  return new Map(lines.map((line) => line.split('  ').reverse()));
}

/** Every other file with a checksum must be a subject of the provenance, with the same digest. */
function verifyProvenance(folder, sums, key) {
  const name = [...sums.keys()].find((one) => one.endsWith('.intoto.jsonl'));
  const statement = JSON.parse(openEnvelope(JSON.parse(readFileSync(join(folder, name), 'utf8')), key));
  if (statement._type !== STATEMENT_TYPE) throw new Error(`${name} is not an in-toto statement`);
  const subjects = new Map(statement.subject.map((subject) => [subject.name, subject.digest.sha256]));
  for (const [file, sum] of sums) {
    if (file !== name && subjects.get(file) !== sum) throw new Error(`${name} does not name ${file} with its digest`);
  }
}

/** Verifies digest and size of everything that the index of an image refers to. Returns the number of layers. */
function verifyImage(archive) {
  const layout = mkdtempSync(join(tmpdir(), 'latchkey-image-'));
  try {
    extractTar(archive, layout);
    const read = ({ digest, size }) => {
      const path = join(layout, 'blobs', digest.replace(':', '/'));
      if (`sha256:${sha256(path)}` !== digest) throw new Error(`${archive}: a blob does not have the digest ${digest}`);
      const content = readFileSync(path);
      if (content.length !== size)
        throw new Error(`${archive}: ${digest} has ${content.length} bytes instead of ${size}`);
      return content;
    };
    const { manifests } = JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8'));
    const images = manifests.flatMap((index) => JSON.parse(read(index)).manifests).map((one) => JSON.parse(read(one)));
    for (const { config, layers } of images) {
      const { rootfs } = JSON.parse(read(config));
      if (rootfs.diff_ids.length !== layers.length) throw new Error(`${archive}: an image lacks layers`);
      layers.forEach(read);
    }
    return images.flatMap(({ layers }) => layers).length;
  } finally {
    rmSync(layout, { recursive: true });
  }
}
