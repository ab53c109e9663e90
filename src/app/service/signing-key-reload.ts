/** Reloads the signing keys of a running service from their files (oauth 3.3, operations 8.6). */
import type { Config } from '#config/config.ts';
import { type LoadedConfig, rereadSecrets } from '#config/load.ts';
import type { ListedKey, SigningKeys } from '#domain/keys/signing-keys.ts';
import { describeError, type Log } from '#platform/base/log.ts';
import { sha256 } from '#platform/base/secret.ts';
import { loadSigningKeys } from './foundation.ts';
import { warnOfMissingAlgorithms, warnOfUnsignableTokens } from './start-checks.ts';

/** Instances that share a key directory agree within a minute (oauth 3.3). */
const INTERVAL_MS = 20_000;

export interface SigningKeyReloadDeps {
  readonly config: Pick<Config, 'clients' | 'oauth' | 'secrets'>;
  /** Names the key files. */
  readonly loaded: Pick<LoadedConfig, 'tree'>;
  /** Updated in place. */
  readonly signingKeys: SigningKeys;
  readonly log: Log;
}

export class SigningKeyReload {
  readonly #deps: SigningKeyReloadDeps;
  #digest: string;
  #failure: string | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: SigningKeyReloadDeps) {
    this.#deps = deps;
    this.#digest = digestOf(deps.config.secrets);
  }

  start(): void {
    this.#timer ??= setInterval(() => this.rereadFiles(), INTERVAL_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Reads the configured files again: key directory, `key_file`, passwords. */
  rereadFiles(): void {
    this.#attempt(() => this.#take(rereadSecrets(this.#deps.loaded)));
  }

  #take(secrets: Config['secrets']): void {
    const digest = digestOf(secrets);
    if (digest === this.#digest) return;
    const { config, loaded, log, signingKeys } = this.#deps;
    const before = signingKeys.list();
    signingKeys.replaceWith(loadSigningKeys(secrets, loaded.tree));
    this.#digest = digest;
    logKeyChanges(before, signingKeys.list(), log);
    warnOfMissingAlgorithms(config.clients, signingKeys, log);
    warnOfUnsignableTokens(config.oauth.resources, signingKeys, log);
  }

  /** A failed reload keeps the current keys. The reason is logged once, not on every attempt. */
  #attempt(work: () => void): void {
    try {
      work();
      if (this.#failure !== undefined) this.#deps.log.info('reload', 'signing key reload recovered');
      this.#failure = undefined;
    } catch (error) {
      const { message } = describeError(error);
      if (message !== this.#failure) {
        this.#deps.log.error('reload', 'signing keys could not be reloaded; the previous ones remain in use', {
          message,
        });
      }
      this.#failure = message;
    }
  }
}

type Listed = readonly Pick<ListedKey, 'algorithm' | 'isSigning' | 'kid'>[];

/** Logs one line if the keys differ. */
export function logKeyChanges(before: Listed, after: Listed, log: Log): void {
  if (JSON.stringify(before) === JSON.stringify(after)) return;
  log.info('reload', 'signing keys reloaded', {
    signing: after.flatMap(({ algorithm, kid, isSigning }) => (isSigning ? `${algorithm}=${kid}` : [])).join(' '),
    added: missingFrom(before, after),
    removed: missingFrom(after, before),
  });
}

function missingFrom(some: readonly { readonly kid: string }[], others: readonly { readonly kid: string }[]): string {
  const kids = new Set(some.map(({ kid }) => kid));
  return others.flatMap(({ kid }) => (kids.has(kid) ? [] : kid)).join(' ');
}

/** Returns a digest that detects changes without parsing the keys. */
function digestOf({ keys }: Config['secrets']): string {
  const content = keys.map(({ key, password, ...rest }) => ({
    ...rest,
    key: key.reveal(),
    password: password?.reveal(),
  }));
  return sha256(JSON.stringify(content)).toString('base64');
}
