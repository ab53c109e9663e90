/**
 * Loads the configuration. Sources in ascending precedence: defaults, secrets of the data directory, files,
 * environment, flags. All problems of all sources are collected before the configuration is rejected. This module is
 * the only reader of files and environment.
 */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { checkOwnership, type ProcessAccount, processAccount } from '#platform/base/ownership.ts';
import { type Environment, withDotEnv } from '#platform/config/dot-env.ts';
import { withEnvironment } from '#platform/config/environment.ts';
import { readConfigurationFile } from '#platform/config/files.ts';
import { configurationError, type Problem, placeText } from '#platform/config/problems.ts';
import type { MappingShape } from '#platform/config/shape.ts';
import { deprecationWarnings, withAbsolutePaths, withOwnNames, withoutNulls } from '#platform/config/transform.ts';
import {
  type ListNode,
  type MappingNode,
  mappingNode,
  merge,
  type Node,
  nodeAt,
  nodeOf,
  type Origin,
  type Path,
  plain,
  withValue,
} from '#platform/config/tree.ts';
import { assetDirectoryProblems } from './asset-directory.ts';
import { checkTree } from './check.ts';
import { type Config, completeConfig, configShape } from './config.ts';
import { withCertificateFiles } from './database-certificates.ts';
import { masVariables, parseRustLog } from './mas/environment.ts';
import { dotEnvDirectory, findUpwards, type NamedFiles, namedFiles } from './mas/files.ts';
import { mergedAsMas, relocated } from './mas/merge.ts';
import { dialectOf, mixtureProblems } from './mas/recognize.ts';
import { translateMas, translateMasKeys } from './mas/translate.ts';
import type { MasNote } from './mas/translation.ts';
import { type OtherVariables, otherVariables, unknownVariables } from './other-variables.ts';
import { readPictures } from './picture-files.ts';
import { holdsSecrets, SecretFiles } from './secret-files.ts';
import { MIN_SECRET_LENGTH } from './sections/clients.ts';
import { listenersOf } from './sections/http.ts';
import { secretsConfig } from './sections/secrets.ts';
import { START_SETTINGS, withReplacedOf } from './start-settings.ts';
import { fileSettingProblems, readTemplates, TEMPLATES_KEY, type TemplateFileProblem } from './template-files.ts';
import { readTheme, THEME_KEY } from './theme-file.ts';
import { tlsProblems } from './tls-pairs.ts';
import { defaultLanguageProblems, readTranslations, TRANSLATIONS_KEY } from './translation-files.ts';

export interface ConfigSources {
  /** Files named on the command line. If empty: `LATCHKEY_CONFIG`, then the default locations. */
  readonly files: readonly string[];
  readonly environment: Environment;
  readonly flags: ConfigFlags;
  /** Absolute. Location of `.env`, and base of relative paths. */
  readonly workingDirectory: string;
  /** The files are those of Matrix Authentication Service, and are found as it finds them. */
  readonly isMas?: boolean;
  /** Names of the variables to read. Others are ignored, in `.env` as well. All by default. */
  readonly variables?: RegExp;
  /** Secrets of the data directory, used where no source sets a value. */
  readonly generated?: GeneratedSecrets;
  /** For a reload: the tree and protocol name at startup, which provide the settings that require a restart. */
  readonly started?: { readonly tree: MappingNode; readonly config: Pick<Config, 'protocolName'> };
  /** Return template problems instead of failing on them. */
  readonly collectsTemplateProblems?: true;
  /** Account of this process; overridden in tests. */
  readonly account?: ProcessAccount;
}

export interface ConfigFlags {
  readonly dataDir?: string | undefined;
  readonly logLevel?: string | undefined;
  readonly logFormat?: string | undefined;
}

/** Secrets prepared by `data-directory/`. */
export interface GeneratedSecrets {
  /** 64 hexadecimal characters. */
  readonly encryptionKey?: string | undefined;
  /** Keys that decrypt only. Requires `encryptionKey`. */
  readonly encryptionPrevious?: readonly string[] | undefined;
  /** Absolute path. */
  readonly keysDir?: string | undefined;
}

export interface LoadedConfig {
  readonly config: Config;
  /** One sentence each, logged at startup. */
  readonly warnings: readonly string[];
  /** The subset of `warnings` about file permissions. */
  readonly fileWarnings: readonly string[];
  /** One sentence for each deprecated key in use. */
  readonly deprecations: readonly string[];
  /** Trial mode: neither a file nor a public base is configured (operations 2.1). */
  readonly trial: boolean;
  /** The files that were read, as named by the operator. */
  readonly files: readonly string[];
  /** The subset of `files` without any settings. */
  readonly emptyFiles: readonly string[];
  /** Problems of templates, if collected. The affected templates are left out. */
  readonly templateProblems: readonly TemplateFileProblem[];
  /** How a document of Matrix Authentication Service was translated; undefined: the files are Latchkey's. */
  readonly masNotes: readonly MasNote[] | undefined;
  /** The merged document of Matrix Authentication Service. */
  readonly masDocument: MappingNode | undefined;
  /** Includes the variables of `.env`. */
  readonly environment: Environment;
  /** The merged sources. Secrets in files are still file references. */
  readonly tree: MappingNode;
  /** The same tree with the content of secret files, compared on reload. */
  readonly completeTree: MappingNode;
}

/**
 * Loads the configuration from all sources.
 * @throws ExitError 78 with all problems of all sources
 */
export function loadConfig(sources: ConfigSources): LoadedConfig {
  const { workingDirectory } = sources;
  const shape = configShape();
  const { environment: all, warnings } = withDotEnv(sources.environment, dotEnvDirectory(sources));
  const environment = Object.fromEntries(
    Object.entries(all).filter(([name]) => sources.variables?.test(name) !== false),
  );
  const named = namedFiles(sources, environment);
  const account = sources.account ?? processAccount();
  const reading = new Reading(shape, workingDirectory, account);
  const names = reading.addFiles(named, environment);
  const variables = reading.addEnvironment(environment);
  reading.addFlags(sources.flags);

  const read = withGenerated(withAbsolutePaths(withoutNulls(reading.tree, shape), shape), sources.generated);
  const tree = sources.started === undefined ? read : withStartSettings(read, sources.started);
  const secretFiles = new SecretFiles(account);
  const complete = withCertificateFiles(secretFiles.contents(tree, shape), { environment, workingDirectory }, (root) =>
    secretFiles.contents(root, shape),
  );
  const directoryKeys = secretFiles.keyDirectory(complete);
  const { pictures, problems: pictureProblems } = readPictures(complete);
  const { templates, problems: wrongTemplates } = readTemplates(complete);
  const { translations, problems: wrongTranslations } = readTranslations(complete);
  const { theme, problems: wrongTheme } = readTheme(complete);
  const { parsed, problems } = checkTree(complete, shape);
  const found = [
    ...reading.problems,
    ...secretFiles.problems,
    ...pictureProblems,
    ...fileSettingProblems(complete, THEME_KEY, wrongTheme),
    ...(sources.collectsTemplateProblems === true
      ? []
      : [
          ...fileSettingProblems(complete, TEMPLATES_KEY, wrongTemplates),
          ...fileSettingProblems(complete, TRANSLATIONS_KEY, wrongTranslations),
        ]),
    ...defaultLanguageProblems(complete, translations),
    ...assetDirectoryProblems(complete),
    ...tlsProblems(complete),
    ...problems.filter(isNotConsequence(secretFiles)),
  ].map((problem) => ({ ...problem, key: problem.key === undefined ? undefined : reading.written(problem.key) }));
  // A key that seems to be missing may be in the file that could not be read.
  if (reading.isUnreadable) throw configurationError([...reading.problems]);
  if (parsed === undefined || found.length > 0) throw configurationError(found);

  const isTrial = named.names.length === 0 && nodeAt(tree, ['http', 'public_base']) === undefined;
  const config = completeConfig(parsed, {
    environment,
    variables,
    workingDirectory,
    directoryKeys,
    pictures,
    theme,
    templates: { ...templates, translations },
    isTrial,
    isMatrix: reading.aliases.has('matrix'),
  });
  const fileWarnings = [...reading.warnings, ...secretFiles.warnings];
  return {
    config,
    warnings: [
      ...warnings,
      ...unknownVariables(environment),
      ...fileWarnings,
      ...configWarnings(config).map((line) => reading.written(line)),
      ...passwordFileWarnings(config, environment),
    ],
    fileWarnings,
    deprecations: deprecationWarnings(tree, shape),
    trial: isTrial,
    masNotes: reading.masNotes,
    masDocument: reading.masDocument,
    files: names,
    emptyFiles: reading.emptyFiles,
    templateProblems: [...wrongTemplates, ...wrongTranslations],
    environment,
    tree,
    completeTree: complete,
  };
}

/**
 * Rereads the files of the section `secrets`; all other settings stay as loaded by `loadConfig`. Used to rotate keys
 * while the service runs.
 * @throws ExitError 78 with all problems of the files
 */
export function rereadSecrets({ tree }: Pick<LoadedConfig, 'tree'>, account = processAccount()): Config['secrets'] {
  const { directoryKeys, parsed } = rereadSection(tree, 'secrets', account);
  return secretsConfig(parsed.secrets, directoryKeys);
}

/**
 * Rereads the certificate files of the listeners.
 * @throws ExitError 78 with all problems of the files
 */
export function rereadListeners({ tree }: Pick<LoadedConfig, 'tree'>): Config['http']['listeners'] {
  const { parsed } = rereadSection(tree, 'http', processAccount());
  return listenersOf(parsed.http, { host: undefined, port: undefined });
}

function rereadSection(tree: MappingNode, section: string, account: ProcessAccount | undefined) {
  const shape = configShape();
  const own = [...tree.entries].filter(([key]) => key === section);
  const files = new SecretFiles(account);
  const complete = files.contents(mappingNode(tree.at, own), shape);
  const directoryKeys = files.keyDirectory(complete);
  const { parsed, problems } = checkTree(complete, shape);
  const found = [...files.problems, ...tlsProblems(complete), ...problems.filter(isNotConsequence(files))];
  if (parsed === undefined || found.length > 0) throw configurationError(found);
  return { parsed, directoryKeys };
}

const RECOGNIZED =
  'read as a configuration of Matrix Authentication Service, with its defaults ' +
  '(docs/reference/mas-configuration.md). Set protocol_name: matrix if it is a configuration of Latchkey';

/** Merges the sources in ascending precedence and collects their problems. */
class Reading {
  readonly problems: Problem[] = [];
  readonly warnings: string[] = [];
  readonly aliases = new Set<string>();
  readonly emptyFiles: string[] = [];
  /** A file is not valid YAML or could not be read. */
  isUnreadable = false;
  /** Present if the files are those of Matrix Authentication Service. */
  masNotes: readonly MasNote[] | undefined;
  masDocument: MappingNode | undefined;
  tree: MappingNode;
  readonly #shape: MappingShape;
  readonly #directory: string;
  readonly #account: ProcessAccount | undefined;
  #rank = 0;

  constructor(shape: MappingShape, directory: string, account: ProcessAccount | undefined) {
    this.#shape = shape;
    this.#directory = directory;
    this.#account = account;
    this.tree = mappingNode({ rank: 0, source: 'defaults', directory });
  }

  /** Returns a key, or a text that begins with a key, as the operator wrote the key. */
  written(text: string): string {
    return this.masNotes === undefined ? text : text.replace(/^homeserver\b/, 'matrix');
  }

  /** Returns the names of the files that were read. */
  addFiles(named: NamedFiles, environment: Environment): readonly string[] {
    const names = named.areDeclared ? this.#existing(named.names) : named.names;
    const roots = names.flatMap((name) => this.#readFile(name) ?? []);
    // What a file that cannot be read contains is unknown.
    if (this.isUnreadable) return names;
    if (dialectOf(roots, this.#shape, named.areDeclared) === 'mas') {
      this.#addMasFiles(roots, environment);
      if (!named.areDeclared) this.warnings.push(`${names.join(', ')}: ${RECOGNIZED}`);
      return names;
    }
    this.problems.push(...mixtureProblems(roots, this.#shape));
    for (const root of roots) {
      const { root: renamed, problems, aliases } = withOwnNames(root, this.#shape);
      this.problems.push(...problems);
      for (const alias of aliases) this.aliases.add(alias);
      this.#lay(renamed);
    }
    if (this.#isMatrix(environment)) this.#addMasVariables(environment);
    else if (named.overruledBy !== undefined) this.problems.push(this.#unread(named.overruledBy, environment));
    return names;
  }

  /** Files of Matrix Authentication Service are also looked up in the directories above, and may be missing. */
  #existing(names: readonly string[]): readonly string[] {
    return names.flatMap((name) => {
      const found = findUpwards(name, this.#directory);
      if (found === undefined) this.warnings.push(`${name}: the configuration file does not exist`);
      if (found === undefined) return [];
      return found === resolve(this.#directory, name) ? [name] : [found];
    });
  }

  #readFile(name: string): MappingNode | undefined {
    this.#rank += 1;
    const { root, problems } = readConfigurationFile(name, this.#rank, this.#directory);
    this.problems.push(...problems);
    if (root === undefined) {
      this.isUnreadable = true;
      return undefined;
    }
    if (holdsSecrets(withOwnNames(root, this.#shape).root, this.#shape)) this.#judgeFile(name, root.at);
    if (root.kind === 'mapping' && root.entries.size === 0) this.emptyFiles.push(name);
    if (root.kind === 'mapping') return root;
    this.problems.push({ key: undefined, message: 'expected a mapping of sections', at: root.at });
    return undefined;
  }

  #addMasFiles(roots: readonly MappingNode[], environment: Environment): void {
    const document = roots
      .map((root) => relocated(root, this.#directory))
      .reduce(mergedAsMas, this.#masVariables(environment));
    const { root, notes } = translateMas(document, this.#shape);
    this.masNotes = notes;
    this.masDocument = document;
    this.#addNotes(notes);
    this.#lay(root);
    this.#setRustLog(environment);
  }

  /** Variables of Matrix Authentication Service are below the files. */
  #addMasVariables(environment: Environment): void {
    const { root, notes } = translateMasKeys(this.#masVariables(environment), this.#shape);
    this.#addNotes(notes);
    const merged = merge(root, this.tree);
    if (merged.kind === 'mapping') this.tree = merged;
    this.#setRustLog(environment);
  }

  #masVariables(environment: Environment): MappingNode {
    return masVariables(environment, { rank: 0, directory: this.#directory });
  }

  #addNotes(notes: readonly MasNote[]): void {
    for (const { kind, key, message, at } of notes) {
      if (kind === 'refusal') this.problems.push({ key, message, at });
      if (kind === 'warning') this.warnings.push(`${key}: ${message} (${placeText(at)})`);
    }
  }

  #setRustLog(environment: Environment): void {
    const { level, ignored } = parseRustLog(environment['RUST_LOG'] ?? '');
    this.#set('logging', 'level', level, { ...this.#nextOrigin(), source: 'RUST_LOG' });
    if (ignored.length > 0 && (environment['LATCHKEY_LOG'] ?? '') === '') {
      this.warnings.push(`RUST_LOG: ${ignored.join(', ')} is ignored; LATCHKEY_LOG sets levels of single events`);
    }
  }

  #isMatrix(environment: Environment): boolean {
    const name = nodeAt(this.tree, ['protocol_name']);
    const value = environment['LATCHKEY__PROTOCOL_NAME'] ?? (name === undefined ? undefined : plain(name));
    return value === undefined ? this.aliases.has('matrix') : value === 'matrix';
  }

  #unread(by: string, environment: Environment): Problem {
    const message = `names ${environment['MAS_CONFIG']}, which is not read because ${by} names other files. Unset MAS_CONFIG, or unset ${by} to run with the configuration of Matrix Authentication Service`;
    return { key: undefined, message, at: { rank: this.#rank, source: 'MAS_CONFIG', directory: this.#directory } };
  }

  /** Checks the owner and mode of a file that contains secrets: only its owner may read or write it. */
  #judgeFile(name: string, at: Origin): void {
    const path = resolve(this.#directory, name);
    const { error, warning } = checkOwnership(path, statSync(path), this.#account);
    if (error !== undefined) this.problems.push({ key: undefined, message: error, at: { ...at, line: 1, column: 1 } });
    if (warning !== undefined) this.warnings.push(`${warning}; it contains secrets`);
  }

  addEnvironment(environment: Environment): OtherVariables {
    const origin = this.#nextOrigin();
    const { root, problems, aliases } = withEnvironment(this.tree, environment, this.#shape, origin);
    this.tree = root;
    for (const alias of aliases) this.aliases.add(alias);
    const variables = otherVariables(environment, origin);
    this.problems.push(...problems, ...variables.problems);
    this.#set('logging', 'level', variables.log.level, { ...origin, source: 'LATCHKEY_LOG' });
    return variables;
  }

  addFlags(flags: ConfigFlags): void {
    const origin = this.#nextOrigin();
    if (flags.dataDir !== undefined)
      this.#lay(nodeOf({ data_dir: flags.dataDir }, { ...origin, source: '--data-dir' }));
    this.#set('logging', 'level', flags.logLevel, { ...origin, source: '--log-level' });
    this.#set('logging', 'format', flags.logFormat, { ...origin, source: '--log-format' });
  }

  #nextOrigin(): Omit<Origin, 'source'> {
    this.#rank += 1;
    return { rank: this.#rank, directory: this.#directory };
  }

  #set(section: string, key: string, value: string | undefined, origin: Origin): void {
    if (value !== undefined) this.#lay(nodeOf({ [section]: { [key]: value } }, origin));
  }

  #lay(upper: ReturnType<typeof nodeOf>): void {
    const merged = merge(this.tree, upper);
    if (merged.kind === 'mapping') this.tree = merged;
  }
}

/** Returns the tree with the startup values of settings that require a restart. */
function withStartSettings(tree: MappingNode, started: NonNullable<ConfigSources['started']>): MappingNode {
  const origin = tree.at;
  let result: Node | undefined = tree;
  const kept = withReplacedOf(started.tree, tree);
  for (const path of pathsToKeep(tree, started.tree)) {
    const value = nodeAt(kept, path);
    // Avoids adding a mapping that the sources do not contain.
    if (value !== undefined || nodeAt(tree, path) !== undefined) result = withValue(result, path, value, origin);
  }
  // The protocol name also depends on how the section is spelled.
  const protocolName = nodeOf(started.config.protocolName, { ...origin, rank: 0, source: 'startup' });
  result = withValue(result, ['protocol_name'], nodeAt(kept, ['protocol_name']) ?? protocolName, origin);
  return result?.kind === 'mapping' ? result : tree;
}

/**
 * The other keys of the homeserver section apply to one kind of homeserver only. Without the section there is no
 * homeserver.
 */
function pathsToKeep(tree: MappingNode, started: MappingNode): readonly Path[] {
  const kindOf = (root: MappingNode): string => {
    const section = nodeAt(root, ['homeserver']);
    const kind = nodeAt(root, ['homeserver', 'kind']);
    return section === undefined ? 'none' : JSON.stringify(kind === undefined ? 'default' : plain(kind));
  };
  return kindOf(tree) === kindOf(started) ? START_SETTINGS : [...START_SETTINGS, ['homeserver']];
}

/** Adds the secrets of the data directory where no other source sets a value. */
function withGenerated(tree: MappingNode, generated: GeneratedSecrets = {}): MappingNode {
  const has = (key: string) => nodeAt(tree, ['secrets', key]) !== undefined;
  const needsKey = !has('encryption') && !has('encryption_file');
  const needsKeys = !has('keys') && !has('keys_dir');
  const secrets = {
    ...(needsKey && generated.encryptionKey !== undefined && { encryption: generated.encryptionKey }),
    ...(needsKeys && generated.keysDir !== undefined && { keys_dir: generated.keysDir }),
  };
  if (Object.keys(secrets).length === 0) return tree;
  const origin = { ...tree.at, rank: 0, source: 'data directory' };
  const merged = merge(nodeOf({ secrets }, origin), tree);
  const path = ['secrets', 'encryption_previous'];
  const previous = nodeOf(needsKey ? (generated.encryptionPrevious ?? []) : [], origin);
  const all =
    previous.kind === 'list' && previous.items.length > 0 ? withItems(nodeAt(merged, path), previous) : undefined;
  const complete = all === undefined ? merged : withValue(merged, path, all, origin);
  return complete?.kind === 'mapping' ? complete : tree;
}

/** Items from the sources come first. A value that is not a list is left for the schema check to reject. */
function withItems(listed: Node | undefined, more: ListNode): Node {
  if (listed === undefined) return more;
  return listed.kind === 'list' ? { ...listed, items: [...listed.items, ...more.items] } : listed;
}

function isNotConsequence(files: SecretFiles) {
  return (problem: Problem): boolean => problem.key === undefined || !files.unread.has(problem.key);
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
const ADVISED_SECRET_LENGTH = 16;

/** libpq would read the password there. */
function passwordFileWarnings({ database: { server } }: Config, environment: Environment): readonly string[] {
  if (server.kind !== 'postgres' || server.password !== undefined || !environment['PGPASSFILE']) return [];
  return ['PGPASSFILE is ignored: set database.password_file, or PGPASSWORD'];
}

/** Returns warnings about settings that are valid but risky. */
function configWarnings(config: Config): string[] {
  return [
    ...redirectWarnings(config),
    ...clientSecretWarnings(config),
    ...proxyWarnings(config),
    ...homeserverWarnings(config),
    ...emailWarnings(config),
    ...providerWarnings(config),
  ];
}

function redirectWarnings({ clients }: Config): string[] {
  return clients.flatMap(({ redirectUris }, client) =>
    redirectUris.flatMap((uri, index) => {
      if (!/^http:/i.test(uri) || LOOPBACK.test(new URL(uri).hostname)) return [];
      return [
        `clients[${client}].redirect_uris[${index}]: http to another machine: authorization codes are sent unencrypted`,
      ];
    }),
  );
}

function clientSecretWarnings({ clients }: Config): string[] {
  return clients.flatMap(({ clientSecret }, index) => {
    if (clientSecret === undefined || clientSecret.reveal().length >= MIN_SECRET_LENGTH) return [];
    return [
      `clients[${index}].client_secret: shorter than ${MIN_SECRET_LENGTH} characters, so it may be guessed; replace it`,
    ];
  });
}

/** Warns about listeners where any client can choose the address that rate limits and logs use. */
function proxyWarnings({ http: { listeners } }: Config): string[] {
  return listeners.flatMap(({ binds, proxyProtocol }, index) => {
    const isOpen = binds.some((bind) =>
      'port' in bind
        ? !LOOPBACK.test(bind.host ?? '::') && bind.host !== '::1'
        : 'inherited' in bind && bind.kind === 'tcp',
    );
    if (proxyProtocol === undefined || proxyProtocol.from !== undefined || !isOpen) return [];
    return [
      `http.listeners[${index}].proxy_protocol: true trusts every client that connects; use {from: [...]} to list the load balancers`,
    ];
  });
}

function homeserverWarnings(config: Config): string[] {
  const { homeserver, http } = config;
  const warnings: string[] = [];
  const length = homeserver.secret?.reveal().length ?? ADVISED_SECRET_LENGTH;
  if (length < ADVISED_SECRET_LENGTH)
    warnings.push(`homeserver.secret: at least ${ADVISED_SECRET_LENGTH} characters are recommended`);
  if (homeserver.kind === 'none') return warnings;
  const { protocol, hostname } = new URL(homeserver.endpoint);
  if (protocol === 'http:' && !LOOPBACK.test(hostname))
    warnings.push('homeserver.endpoint: http to another machine: the secret is sent unencrypted');
  if (homeserver.endpoint === http.publicBase)
    warnings.push('homeserver.endpoint: same as http.public_base, so this service would send requests to itself');
  const isForOthers = !LOOPBACK.test(new URL(http.publicBase).hostname);
  if (isForOthers && /^localhost(?::|$)/.test(homeserver.homeserver)) {
    warnings.push(
      `homeserver.homeserver: "${homeserver.homeserver}" becomes part of user IDs; set it to server_name of the homeserver`,
    );
  }
  if (config.protocolName !== 'matrix') {
    warnings.push(
      `protocol_name: Synapse and its clients require "matrix", not "${config.protocolName}"; it cannot be changed after the first start`,
    );
  }
  if (config.compat.enabled && !http.listeners.some(({ resources }) => resources.some(({ name }) => name === 'compat')))
    warnings.push(
      'http.listeners: none serves "compat", so chat clients without OpenID Connect support cannot sign in',
    );
  return warnings;
}

function emailWarnings({ account, email: { from, transport }, passwords }: Config): string[] {
  const warnings: string[] = [];
  if (passwords.enabled && account.passwordRecoveryEnabled && transport.kind === 'blackhole')
    warnings.push('account.password_recovery_enabled: no emails are sent because email.transport is "blackhole"');
  const isEmailRequired = account.passwordRegistrationEnabled && account.passwordRegistrationEmailRequired;
  if (passwords.enabled && isEmailRequired && transport.kind === 'blackhole') {
    warnings.push(
      'account.password_registration_email_required: users cannot register, since no emails are sent: email.transport is "blackhole"',
    );
  }
  if (transport.kind === 'smtp' && transport.mode === 'plain' && transport.credentials !== undefined) {
    const isHere = LOOPBACK.test(transport.hostname) || transport.hostname === '::1';
    if (!isHere) warnings.push('email.mode: "plain" to another machine: the password is sent unencrypted');
  }
  if (transport.kind !== 'blackhole' && transport.kind !== 'file' && from.address.endsWith('@localhost'))
    warnings.push(`email.from: other mail servers reject emails from ${from.address}`);
  return warnings;
}

function providerWarnings(config: Config): string[] {
  const { upstreamOauth2 } = config;
  const isRegistrationOpen = opensRegistration(config);
  return upstreamOauth2.providers.flatMap(({ issuer, scope, claimsImports: { localpart, email } }, index) => {
    const path = `upstream_oauth2.providers[${index}]`;
    const warnings: string[] = [];
    if (issuer === undefined && scope.split(' ').includes('openid'))
      warnings.push(`${path}: "issuer" is required to validate ID tokens`);
    if (localpart.onConflict !== 'fail') {
      warnings.push(
        `${path}.claims_imports.localpart.on_conflict: with "${localpart.onConflict}", anyone who controls the claim at the provider can take over accounts`,
      );
      if (isRegistrationOpen) {
        warnings.push(
          `${path}.claims_imports.localpart.on_conflict: "${localpart.onConflict}" with open registration allows anyone to register the usernames of future users of the provider; close registration, or require registration tokens`,
        );
      }
    }
    if (email.action !== 'ignore' && email.setEmailVerification === 'always') {
      warnings.push(
        `${path}.claims_imports.email.set_email_verification: "always" trusts the provider even if it has not verified an address`,
      );
    }
    return warnings;
  });
}

/** Returns true if anyone can register and choose a username. */
function opensRegistration({ account, passwords, upstreamOauth2 }: Config): boolean {
  const { passwordRegistrationEnabled, passwordRegistrationTokenRequired } = account;
  return (
    (passwords.enabled && passwordRegistrationEnabled && !passwordRegistrationTokenRequired) ||
    upstreamOauth2.providers.some(({ isRegistrationEnabled, claimsImports: { localpart } }) => {
      return isRegistrationEnabled && (localpart.action === 'ignore' || localpart.action === 'suggest');
    })
  );
}
