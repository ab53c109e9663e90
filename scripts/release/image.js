import {
  createReadStream,
  createWriteStream,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { root } from '../steps/places.js';
import { writeTar } from './archive-files.js';
import { sha256 } from './digest.js';
import { writeLaunchers } from './launcher.js';

const MEDIA_TYPES = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
};
const USER = 1000;
const MAIN = '/opt/latchkey/dist/main.js';

/** Writes the commands of the image, and its writable directory, below `commands` and `data`. */
function writeOwnFiles(commands, data) {
  writeLaunchers(join(commands, 'usr/local/bin'), { findHome: [], node: '/usr/local/bin/node', main: MAIN });
  mkdirSync(join(data, 'data'), { recursive: true, mode: 0o700 });
}

/**
 * Writes an OCI image layout with one image for each architecture, and packs it: what a container engine or a registry
 * client reads, without needing one here.
 * @param path name of the archive
 * @param options `systems`: for each architecture the prepared directories of the base system, Node.js and the
 *   application; `labels`: annotations of the index and the images
 */
export async function writeImage(path, { place, systems, labels, epoch }) {
  const layout = join(place, 'layout');
  mkdirSync(join(layout, 'blobs/sha256'), { recursive: true });
  const images = [];
  for (const system of systems) images.push(await writeOneImage(layout, place, system, { labels, epoch }));
  const version = labels['org.opencontainers.image.version'];
  const index = addJson(layout, MEDIA_TYPES.index, {
    schemaVersion: 2,
    mediaType: MEDIA_TYPES.index,
    manifests: images,
    annotations: labels,
  });
  writeJson(join(layout, 'oci-layout'), { imageLayoutVersion: '1.0.0' });
  writeJson(join(layout, 'index.json'), {
    schemaVersion: 2,
    mediaType: MEDIA_TYPES.index,
    manifests: [{ ...index, annotations: { 'org.opencontainers.image.ref.name': version } }],
  });
  writeTar(path, { from: layout, members: ['oci-layout', 'index.json', 'blobs'], epoch });
  rmSync(layout, { recursive: true });
}

async function writeOneImage(layout, place, { architecture, base, node, application }, { labels, epoch }) {
  const [commands, data] = ['commands', 'data'].map((name) => join(place, `${architecture}-${name}`));
  writeOwnFiles(commands, data);
  const contents = [
    { from: base, to: '', says: 'Debian packages' },
    { from: node, to: 'usr/local', says: 'Node.js' },
    { from: application, to: 'opt/latchkey', says: 'Latchkey' },
    { from: commands, to: '', says: 'commands' },
    { from: data, to: '', owner: USER, members: ['data'], says: 'the directory of the data' },
  ];
  const layers = [];
  for (const content of contents) layers.push(await addLayer(layout, place, { ...content, epoch }));
  const created = new Date(epoch * 1000).toISOString();
  const config = addJson(layout, MEDIA_TYPES.config, {
    created,
    architecture,
    os: 'linux',
    config: { ...imageConfiguration(), Labels: labels },
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    history: contents.map(({ says }) => ({ created, created_by: says })),
  });
  const manifest = addJson(layout, MEDIA_TYPES.manifest, {
    schemaVersion: 2,
    mediaType: MEDIA_TYPES.manifest,
    config,
    layers: layers.map(({ descriptor }) => descriptor),
    annotations: labels,
  });
  return { ...manifest, platform: { os: 'linux', architecture } };
}

/** Returns what the last stage of `packaging/Containerfile` sets, so that both images run alike. */
function imageConfiguration() {
  const text = readFileSync(join(root, 'packaging/Containerfile'), 'utf8').replaceAll(/\\\n\s*/g, '');
  const last = text.slice(text.lastIndexOf('\nFROM '));
  const lines = (instruction) =>
    [...last.matchAll(RegExp(`^${instruction} (.*)$`, 'gm'))].map(([, value]) => value.trim());
  const [health] = lines('HEALTHCHECK');
  const [, interval, timeout, startPeriod, test] =
    /^--interval=(\d+)s --timeout=(\d+)s --start-period=(\d+)s CMD (.*)$/.exec(health) ?? [];
  if (test === undefined) throw new Error(`packaging/Containerfile: unknown form of HEALTHCHECK: ${health}`);
  const nanoseconds = (seconds) => Number(seconds) * 1e9;
  const [entrypoint] = lines('ENTRYPOINT');
  return {
    User: lines('USER')[0],
    ExposedPorts: Object.fromEntries(lines('EXPOSE').map((port) => [`${port}/tcp`, {}])),
    Env: ['PATH=/usr/local/bin:/usr/bin:/bin', ...lines('ENV').flatMap((line) => line.split(' '))],
    Entrypoint: JSON.parse(entrypoint.replace('/opt/latchkey/lib/node_modules/latchkey/dist/main.js', MAIN)),
    Volumes: Object.fromEntries(lines('VOLUME').map((folder) => [folder, {}])),
    WorkingDir: lines('WORKDIR').at(-1),
    Healthcheck: {
      Test: ['CMD', ...JSON.parse(test)],
      Interval: nanoseconds(interval),
      Timeout: nanoseconds(timeout),
      StartPeriod: nanoseconds(startPeriod),
    },
  };
}

/** Adds a layer with the contents of a directory at `to`, owned by root unless `owner` says otherwise. */
async function addLayer(layout, place, { from, to, members = ['.'], owner, epoch }) {
  const plain = join(place, 'layer.tar');
  writeTar(plain, { from, members, owner, epoch, prefix: to });
  const compressed = `${plain}.gz`;
  await pipeline(createReadStream(plain), createGzip({ level: 6 }), createWriteStream(compressed));
  const diffId = `sha256:${sha256(plain)}`;
  rmSync(plain);
  return { diffId, descriptor: addBlob(layout, MEDIA_TYPES.layer, compressed) };
}

function addJson(layout, mediaType, value) {
  const file = join(layout, 'blob.json');
  writeJson(file, value);
  return addBlob(layout, mediaType, file);
}

/** Moves a file to its address in the layout. */
function addBlob(layout, mediaType, file) {
  const digest = sha256(file);
  const { size } = statSync(file);
  renameSync(file, join(layout, 'blobs/sha256', digest));
  return { mediaType, digest: `sha256:${digest}`, size };
}

function writeJson(path, value) {
  writeFileSync(path, JSON.stringify(value));
}
