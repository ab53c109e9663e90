import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../steps/places.js';
import { npm, output } from '../steps/program.js';
import { say } from '../steps/say.js';
import { installApplication } from './application.js';
import { writeTar } from './archive-files.js';
import { unpackBaseSystem } from './base-system.js';
import { sha256 } from './digest.js';
import { writeImage } from './image.js';
import { writeImageContext } from './image-context.js';
import { writeLinuxArchive } from './linux-archive.js';
import { ARCHITECTURES, fetchNode } from './runtime.js';
import { publicKeyFile, signEnvelope, signFile } from './signing-key.js';
import { completeBill, PAYLOAD_TYPE, provenanceOf } from './statements.js';

export const CHECKSUMS = 'SHA256SUMS';
export const PUBLIC_KEY = 'release-key.pub';

/**
 * Builds all files of a release from the checked out commit into `folder`, and signs them. Two builds of a commit with
 * the same Debian packages give the same files.
 */
export async function buildArtifacts(folder, key) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const commit = output('git', ['rev-parse', 'HEAD'], { cwd: root }).trim();
  const epoch = Number(process.env.SOURCE_DATE_EPOCH ?? output('git', ['log', '-1', '--format=%ct'], { cwd: root }));
  const name = `latchkey-${version}`;
  const file = (suffix) => join(folder, `${name}${suffix}`);
  const place = mkdtempSync(join(tmpdir(), 'latchkey-release-'));
  if (existsSync(folder) && readdirSync(folder).length > 0) throw new Error(`${folder} is not empty`);
  mkdirSync(folder, { recursive: true });
  try {
    npm(['pack', '--silent', '--pack-destination', folder], { cwd: root });
    const bill = JSON.parse(
      output('tar', ['--extract', '--to-stdout', '--file', file('.tgz'), 'package/dist/sbom.cdx.json']),
    );
    writeImageContext(file('-image-context.tar.gz'), { place, archive: file('.tgz'), epoch });
    const systems = [];
    const debian = [];
    for (const architecture of ARCHITECTURES) {
      const parts = prepareSystem(architecture, join(place, architecture.name), file('.tgz'));
      say(`writing the archive for ${architecture.name}`);
      writeLinuxArchive(file(`-linux-${architecture.name}.tar.gz`), { ...parts, epoch });
      systems.push({ architecture: architecture.container, ...parts });
      debian.push({ architecture: architecture.debian, contents: parts.contents });
    }
    say('writing the image');
    const labels = imageLabels(version, commit, epoch);
    await writeImage(file('-oci.tar'), { place: join(place, 'image'), systems, labels, epoch });
    writeFileSync(file('.cdx.json'), `${JSON.stringify(completeBill(bill, debian), undefined, 2)}\n`);
    writeTar(file('-packaging.tar.gz'), { from: join(root, 'packaging'), epoch, prefix: name });
    say('building the documentation');
    const site = join(place, 'site');
    output(process.execPath, [join(root, 'tools/site/run.js'), '--output', site]);
    writeTar(file('-site.tar.gz'), { from: site, epoch, prefix: `${name}-site` });
    const artifacts = () =>
      readdirSync(folder)
        .toSorted()
        .map((one) => ({ name: one, sha256: sha256(join(folder, one)) }));
    const provenance = provenanceOf({
      ...{ version, commit, epoch, debian, artifacts: artifacts() },
      repository: process.env.LATCHKEY_RELEASE_REPOSITORY ?? 'latchkey',
      builder: process.env.LATCHKEY_RELEASE_BUILDER ?? 'maintainer',
      lockfileDigest: sha256(join(root, 'package-lock.json')),
    });
    const envelope = signEnvelope(PAYLOAD_TYPE, JSON.stringify(provenance), key);
    writeFileSync(file('.intoto.jsonl'), `${JSON.stringify(envelope)}\n`);
    const sums = artifacts().map((one) => `${one.sha256}  ${one.name}\n`);
    writeFileSync(join(folder, CHECKSUMS), sums.join(''));
    writeFileSync(
      join(folder, `${CHECKSUMS}.minisig`),
      signFile(join(folder, CHECKSUMS), key, `latchkey ${version} ${commit}`),
    );
    writeFileSync(join(folder, PUBLIC_KEY), publicKeyFile(key));
    for (const one of readdirSync(folder)) say(`${(statSync(join(folder, one)).size / 1e6).toFixed(1)} MB ${one}`);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

function prepareSystem({ name, debian }, place, archive) {
  say(`preparing Node.js, Latchkey and Debian packages for ${name}`);
  const [node, application, base] = ['node', 'application', 'base'].map((one) => join(place, one));
  fetchNode(name, place, node);
  installApplication(archive, name, application);
  const contents = unpackBaseSystem(debian, join(place, 'debian'), base);
  return { node, application, base, contents };
}

function imageLabels(version, commit, epoch) {
  return {
    'org.opencontainers.image.title': 'latchkey',
    'org.opencontainers.image.version': version,
    'org.opencontainers.image.revision': commit,
    'org.opencontainers.image.created': new Date(epoch * 1000).toISOString(),
    'org.opencontainers.image.licenses': 'Apache-2.0',
    'org.opencontainers.image.description': JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).description,
  };
}
