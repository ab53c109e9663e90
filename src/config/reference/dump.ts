/** The merged configuration in the format of the file, with secrets masked. */

import { stringify } from 'yaml';
import { networkText } from '#platform/base/ip-address.ts';
import { isObject } from '#platform/base/objects.ts';
import { mappingOf, type Shape } from '#platform/config/shape.ts';
import { type Node, nodeAt, plain } from '#platform/config/tree.ts';
import type { Bind, ListenerOptions } from '#platform/http/http-options.ts';
import { type Config, configShape } from '../config.ts';
import type { LoadedConfig } from '../load.ts';
import { EMAIL_DEFAULTS } from '../sections/email.ts';

/** Replaces each value whose key is declared a secret in the schema. */
export const REDACTED = '<redacted>';

export interface DumpOptions {
  /** Include defaults. */
  readonly defaults: boolean;
  readonly showSecrets: boolean;
}

/** Returns the merged configuration as YAML. */
export function dumpedConfig(loaded: LoadedConfig, options: DumpOptions): string {
  return stringify(dumpedSettings(loaded, options), { lineWidth: 0 });
}

export function dumpedSettings(loaded: Pick<LoadedConfig, 'config' | 'tree'>, options: DumpOptions): unknown {
  const settings = dumped(loaded.tree, configShape(), options);
  const complete = options.defaults ? filledIn(settings, derivedDefaults(loaded)) : settings;
  return complete ?? {};
}

/** Returns undefined if neither a source nor a default sets a value. */
function dumped(node: Node | undefined, shape: Shape, options: DumpOptions): unknown {
  if (shape.hints.secret === true && node !== undefined && !isFileReference(node)) {
    return options.showSecrets ? plain(node) : REDACTED;
  }
  if (shape.kind === 'list' && node?.kind === 'list') {
    return node.items.map((item) => dumped(item, shape.element, options));
  }
  const isMapping = shape.kind === 'mapping' && (node === undefined || node.kind === 'mapping');
  if (isMapping || (node?.kind === 'mapping' && mappingOf(shape) !== undefined)) {
    return dumpedMapping(node, shape, options);
  }
  if (node !== undefined) return plain(node);
  return options.defaults ? shape.defaultValue : undefined;
}

function dumpedMapping(node: Node | undefined, shape: Shape, options: DumpOptions): unknown {
  // Omitting an optional section without a default differs from setting all its keys to their defaults.
  if (node === undefined && !shape.isRequired && shape.defaultValue === undefined) return undefined;
  const entries = [...(mappingOf(shape)?.keys ?? [])]
    .map(([key, keyShape]) => {
      const below = node?.kind === 'mapping' ? node.entries.get(key)?.value : undefined;
      return [key, dumped(below, keyShape, options)] as const;
    })
    .filter(([, value]) => value !== undefined);
  if (node === undefined && entries.length === 0) return undefined;
  const settings = Object.fromEntries(entries);
  // The default of an omitted section takes precedence over the defaults of its keys.
  return node === undefined && options.defaults ? filledIn(shape.defaultValue, settings) : settings;
}

/** Returns true for `{file: path}`, which names a secret but does not contain it. */
function isFileReference(node: Node): boolean {
  return node.kind === 'mapping' && [...node.entries.keys()].every((key) => key === 'file');
}

/** Returns the defaults that depend on other settings or on the machine, in the format of the file. */
function derivedDefaults({ config, tree }: Pick<LoadedConfig, 'config' | 'tree'>): unknown {
  const isSet = (...path: string[]) => nodeAt(tree, path) !== undefined;
  const isEmbedded = config.database.server.kind === 'embedded' && !isSet('database', 'uri_file');
  return {
    data_dir: config.dataDir,
    protocol_name: config.protocolName,
    http: {
      public_base: config.http.publicBase,
      issuer: config.http.issuer,
      trusted_proxies: config.http.trustedProxies.map(networkText),
      listeners: config.http.listeners.map((listener) =>
        isSet('http', 'listeners') ? { name: listener.name } : writtenListener(listener),
      ),
    },
    ...(isEmbedded && { database: { uri: 'embedded:' } }),
    clients: config.clients.map(({ grantTypes }) => ({ grant_types: [...grantTypes] })),
    account: {
      password_registration_enabled: config.account.passwordRegistrationEnabled,
      password_recovery_enabled: config.account.passwordRecoveryEnabled,
      password_registration_email_required: config.account.passwordRegistrationEmailRequired,
    },
    email: {
      transport: config.email.transport.kind,
      ...EMAIL_DEFAULTS,
      ...transportDefaults(config.email.transport),
    },
    branding: { service_name: config.branding.serviceName },
    limits: { password_hash_concurrency: config.limits.passwordHashConcurrency },
  };
}

/** Returns the defaults of keys that only this transport supports. */
function transportDefaults(transport: Config['email']['transport']): object {
  if (transport.kind === 'smtp') return { port: transport.port, ehlo_name: transport.ehloName };
  return transport.kind === 'sendmail' ? { command: transport.command } : {};
}

function writtenListener({ name, resources, binds }: ListenerOptions): unknown {
  return {
    name,
    resources: resources.map((resource) => resource.name),
    binds: binds.map(writtenBind),
  };
}

function writtenBind(bind: Bind): unknown {
  if ('port' in bind) return bind.host === undefined ? { port: bind.port } : bind;
  if ('inherited' in bind) {
    const { inherited, kind } = bind;
    return typeof inherited === 'number' ? { fd: inherited, kind } : { fd_name: inherited, kind };
  }
  return bind.mode === undefined ? { socket: bind.socket } : { ...bind, mode: bind.mode.toString(8) };
}

/** Fills in missing values from the defaults; existing values are kept. */
function filledIn(value: unknown, defaults: unknown): unknown {
  if (value === undefined) return defaults;
  if (Array.isArray(value) && Array.isArray(defaults))
    return value.map((item, index) => filledIn(item, defaults[index]));
  if (!isObject(value) || !isObject(defaults)) return value;
  const keys = new Set([...Object.keys(value), ...Object.keys(defaults)]);
  return Object.fromEntries([...keys].map((key) => [key, filledIn(value[key], defaults[key])]));
}
