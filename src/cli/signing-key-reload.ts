/** Keeps the signing keys of a running service up to date with the files that hold them (oauth 3.3, operations 8.6). */
import type { Config } from '#config/config.ts';
import { type LoadedConfig, rereadSecrets } from '#config/load.ts';
import type { SigningKeys } from '#domain/signing-keys/signing-keys.ts';
import { describeError, type Log } from '#platform/base/log.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { OpenLog } from '#platform/log/log-writer.ts';
import { loadSigningKeys } from './foundation.ts';
import { warnOfMissingAlgorithms } from './start-checks.ts';

/** Instances that share a directory of keys agree within a minute (oauth 3.3). */
const INTERVAL_MS = 20_000;

export interface SigningKeyReloadDeps {
  /** As it was read at the start. */
  readonly loaded: Pick<LoadedConfig, 'config' | 'tree'>;
  /** Replaced in place. */
  readonly signingKeys: SigningKeys;
  readonly log: Log;
  /** Reads all sources again. */
  readConfig(): Pick<LoadedConfig, 'config' | 'tree'>;
}

export class SigningKeyReload {
  readonly #deps: SigningKeyReloadDeps;
  #tree: LoadedConfig['tree'];
  #digest: string;
  #failure: string | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: SigningKeyReloadDeps) {
    this.#deps = deps;
    this.#tree = deps.loaded.tree;
    this.#digest = digestOf(deps.loaded.config.secrets);
  }

  start(): void {
    this.#timer ??= setInterval(() => this.rereadFiles(), INTERVAL_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Reads the files again that the configuration named when it was read last: directory, `key_file`, passwords. */
  rereadFiles(): void {
    this.#attempt(() => this.#take(rereadSecrets({ tree: this.#tree }), this.#tree));
  }

  /** Reads the configuration itself again, for the section `secrets`; at a signal of the operator. */
  reload(): void {
    // What a signal asks for is answered, however often.
    this.#failure = undefined;
    this.#attempt(() => {
      const { config, tree } = this.#deps.readConfig();
      this.#take(config.secrets, tree);
      this.#tree = tree;
    });
  }

  #take(secrets: Config['secrets'], tree: LoadedConfig['tree']): void {
    const digest = digestOf(secrets);
    if (digest === this.#digest) return;
    const { log, loaded, signingKeys } = this.#deps;
    const before = signingKeys.list();
    const next = loadSigningKeys(secrets, tree);
    signingKeys.replaceWith(next);
    this.#digest = digest;
    const after = next.list();
    log.info('reload', 'the signing keys have changed', {
      signing: after.flatMap(({ algorithm, kid, isSigning }) => (isSigning ? `${algorithm}=${kid}` : [])).join(' '),
      added: missingFrom(before, after),
      removed: missingFrom(after, before),
    });
    warnOfMissingAlgorithms(loaded.config.clients, signingKeys, log);
  }

  /** A reload that fails leaves the keys as they are; why is said once, not at every attempt. */
  #attempt(work: () => void): void {
    try {
      work();
      if (this.#failure !== undefined) this.#deps.log.info('reload', 'the signing keys can be read again');
      this.#failure = undefined;
    } catch (error) {
      const { message } = describeError(error);
      if (message !== this.#failure) {
        this.#deps.log.error('reload', 'the signing keys could not be read again; the former ones stay in use', {
          message,
        });
      }
      this.#failure = message;
    }
  }
}

/** What SIGHUP asks for: the log first, whose file may have been moved away, so that it tells of the keys. */
export async function reopenLogAndKeys({ log, sink }: OpenLog, keyReload: SigningKeyReload): Promise<void> {
  try {
    await sink.reopen();
    log.info(
      'reload',
      'SIGHUP received: a log file is opened and signing keys are read again; other settings at start only',
    );
  } catch (error) {
    log.error('reload', 'the log file could not be opened again', describeError(error));
  }
  keyReload.reload();
}

function missingFrom(some: readonly { readonly kid: string }[], others: readonly { readonly kid: string }[]): string {
  const kids = new Set(some.map(({ kid }) => kid));
  return others.flatMap(({ kid }) => (kids.has(kid) ? [] : kid)).join(' ');
}

/** Tells whether anything about the keys has changed, without reading them. */
function digestOf({ keys }: Config['secrets']): string {
  const content = keys.map(({ key, password, ...rest }) => ({
    ...rest,
    key: key.reveal(),
    password: password?.reveal(),
  }));
  return sha256(JSON.stringify(content)).toString('base64');
}
