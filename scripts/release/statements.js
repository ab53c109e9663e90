import { ARCHITECTURES, runtimeOf } from './runtime.js';

/** Types of the provenance: an in-toto statement with the predicate of SLSA. */
export const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1';
export const PAYLOAD_TYPE = 'application/vnd.in-toto+json';
const PREDICATE_TYPE = 'https://slsa.dev/provenance/v1';

/**
 * Returns the provenance: which files were made, from which commit, with which inputs.
 * @param release `artifacts`: names and digests; `debian`: packages of the base system by architecture
 */
export function provenanceOf({ version, commit, repository, lockfileDigest, artifacts, debian, builder, epoch }) {
  const material = (uri, digest) => ({ uri, digest });
  const nodes = ARCHITECTURES.map(({ name }) => {
    const { package: packageName, version: nodeVersion, integrity } = runtimeOf(name);
    const sha512 = Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex');
    return material(`pkg:npm/${packageName}@${nodeVersion}`, { sha512 });
  });
  const packages = debian.flatMap(({ architecture, contents }) =>
    contents.map((one) => material(debianUrl(one, architecture), { sha256: one.sha256 })),
  );
  return {
    _type: STATEMENT_TYPE,
    subject: artifacts.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
    predicateType: PREDICATE_TYPE,
    predicate: {
      buildDefinition: {
        buildType: 'https://slsa.dev/provenance/v1#npm-run-release',
        externalParameters: { repository, ref: `refs/tags/v${version}`, command: 'npm run release -- build' },
        internalParameters: { SOURCE_DATE_EPOCH: epoch },
        resolvedDependencies: [
          material(`git+${repository}`, { gitCommit: commit }),
          material('package-lock.json', { sha256: lockfileDigest }),
          ...nodes,
          ...packages,
        ],
      },
      runDetails: {
        builder: { id: builder, version: { node: process.versions.node } },
        metadata: { invocationId: `${commit}-${epoch}` },
      },
    },
  };
}

/** Returns the bill of materials of the package with what the archives and the image add: Node.js and Debian packages. */
export function completeBill(bill, debian) {
  const nodes = ARCHITECTURES.map(({ name }) => {
    const { package: packageName, version, integrity } = runtimeOf(name);
    const content = Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex');
    return component(packageName, version, `pkg:npm/${packageName}@${version}`, { alg: 'SHA-512', content });
  });
  const packages = debian.flatMap(({ architecture, contents }) =>
    contents.map((one) =>
      component(one.name, one.version, debianUrl(one, architecture), { alg: 'SHA-256', content: one.sha256 }),
    ),
  );
  return { ...bill, components: [...bill.components, ...nodes, ...packages] };
}

function component(name, version, purl, hash) {
  return { type: 'library', 'bom-ref': purl, name, version, purl, hashes: [hash] };
}

function debianUrl({ name, version }, architecture) {
  return `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}`;
}
