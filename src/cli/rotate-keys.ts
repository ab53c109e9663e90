/**
 * `latchkey keys rotate`: determines which step of a rotation is due, and when the next one may follow (operations
 * 3.12).
 */
import { basename } from 'node:path';
import {
  beginRotation,
  findNextKey,
  findOldKey,
  isPromotionOpen,
  type KeyRotation,
  promoteNextKey,
  retireOldKey,
  type StagedKey,
} from '#app/data-directory/rotate-signing-keys.ts';
import { parseKeyFileName } from '#config/sections/key-file-names.ts';
import type { ListedKey } from '#domain/keys/signing-keys.ts';
import { systemClock } from '#platform/base/clock.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { isKeyType, KEY_TYPES, type KeyType, keyTypeAlgorithm, standardStem } from '#protocol/jose/key-types.ts';
import type { SigningAlgorithm } from '#protocol/jose/signing-algorithms.ts';
import type { CommandIo, CommandOptions } from './command-io.ts';
import { type ConfiguredKeys, describeKeys, isInDirectory, keyTable, readConfiguredKeys } from './keys.ts';

export interface RotateKeysFlags {
  readonly type?: string;
  /** Seconds. */
  readonly publishFor?: number;
  readonly promote: boolean;
  readonly retire: boolean;
  readonly force: boolean;
}

const PUBLISH_FOR_SECONDS = 3600;
/** Twice the time that clients may cache the key set (oauth 3.3). */
const MINIMUM_PUBLISH_SECONDS = 20 * 60;
const KEEP_SECONDS = 24 * 3600;
/** Allows for slow client clocks and intermediate caches of the key set. */
const KEEP_MARGIN_SECONDS = 10 * 60;

/** The step taken for one algorithm, or why there was none. */
interface StepReport {
  readonly alg: SigningAlgorithm;
  readonly step: 'published' | 'waiting' | 'promoted' | 'replaced' | 'retired' | 'nothing';
  readonly file: string | null;
  /** When the next step may be taken. */
  readonly next_step_at: string | null;
}

/** @throws ExitError 1 if a step is requested too early, or for keys in the configuration itself */
export async function rotateKeys(options: CommandOptions, flags: RotateKeysFlags, io: CommandIo): Promise<void> {
  refuseBadFlags(flags);
  const configured = readConfiguredKeys(options, io);
  const rotations = chooseAlgorithms(configured, flags).map((algorithm) => rotationOf(configured, algorithm));
  for (const rotation of rotations) await refuseTooEarly(rotation, flags, configured);
  if (flags.force) io.stderr('latchkey: warning: waiting times are skipped; clients may reject tokens for a while\n');
  const steps: StepReport[] = [];
  for (const rotation of rotations) steps.push(await takeStep(rotation, flags, configured));
  const after = readConfiguredKeys(options, io);
  if (options.isJson) io.stdout(`${JSON.stringify({ steps, keys: describeKeys(after) })}\n`);
  else
    io.stdout(
      `${steps.map(reportText).join('')}${keyTable(after)}Running processes apply the change within 30 seconds.\n`,
    );
}

function refuseBadFlags({ type, publishFor, promote, retire, force }: RotateKeysFlags): void {
  const problem =
    type !== undefined && !isKeyType(type)
      ? `unknown key type ${JSON.stringify(type)}; expected one of ${KEY_TYPES.join(', ')}`
      : promote && retire
        ? '--promote and --retire cannot be combined'
        : publishFor !== undefined && publishFor < MINIMUM_PUBLISH_SECONDS && !force
          ? '--publish-for must be at least 20m, since clients cache the key set for 10 minutes'
          : undefined;
  if (problem !== undefined) throw new ExitError(ExitCode.usage, problem);
}

/** Returns the algorithm of `--type`, or all signing algorithms of the directory. */
function chooseAlgorithms({ keys, directory }: ConfiguredKeys, { type }: RotateKeysFlags): SigningAlgorithm[] {
  const wanted = isKeyType(type) ? keyTypeAlgorithm(type) : undefined;
  const signers = keys.filter((key) => key.isSigning && (wanted === undefined || key.algorithm === wanted));
  const own = signers.filter((key) => isInDirectory(key, directory));
  const [elsewhere] = signers.filter((key) => !isInDirectory(key, directory));
  const isNewAlgorithm = signers.length === 0 && directory !== undefined;
  if (own.length === 0 && elsewhere !== undefined) throw new ExitError(ExitCode.failure, adviceByHand(elsewhere));
  return isNewAlgorithm && wanted !== undefined ? [wanted] : own.map(({ algorithm }) => algorithm);
}

function adviceByHand({ name, kid, type, algorithm }: ListedKey): string {
  return [
    `${name} signs ${algorithm} and is set in the configuration, which this command does not change. Rotate it by hand:`,
    `1. generate a key: latchkey keys generate ${isKeyType(type) ? type : 'rsa4096'} -o /path/to/new.pem`,
    '2. add it to secrets.keys and reload all instances (SIGHUP):',
    '     - key_file: /path/to/new.pem',
    '       use_for_signing: false',
    `3. an hour later, move the line "use_for_signing: false" to the key with the kid ${kid} and reload`,
    '4. a day later, remove that key and reload',
  ].join('\n');
}

function rotationOf({ keys, directory = '' }: ConfiguredKeys, algorithm: SigningAlgorithm): KeyRotation {
  return { keys: keys.filter((key) => isInDirectory(key, directory)), directory, algorithm, now: systemClock.now() };
}

/** Checks before anything is changed. */
async function refuseTooEarly(
  rotation: KeyRotation,
  flags: RotateKeysFlags,
  configured: ConfiguredKeys,
): Promise<void> {
  const { algorithm, now } = rotation;
  const [next, old] = [await findNextKey(rotation), await findOldKey(rotation)];
  if (flags.promote && next === undefined && old === undefined && !isPromotionOpen(rotation)) {
    throw new ExitError(
      ExitCode.failure,
      `${algorithm}: no next key to promote; run latchkey keys rotate to create it`,
    );
  }
  const key = flags.promote ? next : flags.retire ? old : undefined;
  const due = flags.promote ? promotionTime(key, flags) : retirementTime(key, configured);
  if (key === undefined || due <= now || flags.force) return;
  const what = flags.promote ? 'too recently published to sign' : 'still needed to verify tokens that it signed';
  throw new ExitError(ExitCode.failure, `${key.path} is ${what}: not before ${timeText(due)} (--force skips the wait)`);
}

async function takeStep(
  rotation: KeyRotation,
  flags: RotateKeysFlags,
  configured: ConfiguredKeys,
): Promise<StepReport> {
  const alg = rotation.algorithm;
  const [next, old] = [await findNextKey(rotation), await findOldKey(rotation)];
  if (flags.retire) {
    if (old === undefined) return { alg, step: 'nothing', file: null, next_step_at: null };
    return { alg, step: 'retired', file: await retireOldKey(rotation, old), next_step_at: null };
  }
  const isDue = flags.promote || flags.force || promotionTime(next, flags) <= rotation.now;
  if (isPromotionOpen(rotation) || (next !== undefined && isDue)) {
    const file = await promoteNextKey(rotation);
    const replaced = { path: file, since: rotation.now };
    return { alg, step: 'promoted', file, next_step_at: timeText(retirementTime(replaced, configured)) };
  }
  if (next !== undefined) {
    return { alg, step: 'waiting', file: next.path, next_step_at: timeText(promotionTime(next, flags)) };
  }
  if (old !== undefined) {
    return { alg, step: 'replaced', file: old.path, next_step_at: timeText(retirementTime(old, configured)) };
  }
  const file = await beginRotation(rotation, ...nameAndType(rotation, flags));
  const begun = { path: file, since: rotation.now };
  return { alg, step: 'published', file, next_step_at: timeText(promotionTime(begun, flags)) };
}

/** A key of the same type keeps the name, so that the directory looks the same after a rotation. */
function nameAndType({ keys, algorithm }: KeyRotation, { type }: RotateKeysFlags): [stem: string, type: KeyType] {
  const signer = keys.find((key) => key.isSigning && key.algorithm === algorithm);
  const wanted = type ?? signer?.type;
  if (!isKeyType(wanted)) {
    throw new ExitError(
      ExitCode.usage,
      `${signer?.name}: keys of this size cannot be generated; choose a type with --type`,
    );
  }
  return [signer?.type === wanted ? parseKeyFileName(basename(signer.name)).stem : standardStem(wanted), wanted];
}

function promotionTime(next: StagedKey | undefined, { publishFor, promote }: RotateKeysFlags): number {
  const seconds = publishFor ?? (promote ? MINIMUM_PUBLISH_SECONDS : PUBLISH_FOR_SECONDS);
  return (next?.since ?? 0) + seconds * 1000;
}

function retirementTime(old: StagedKey | undefined, { idTokenTtlSeconds }: ConfiguredKeys): number {
  return (old?.since ?? 0) + Math.max(KEEP_SECONDS, idTokenTtlSeconds + KEEP_MARGIN_SECONDS) * 1000;
}

/** Rounded up, so that the printed time is not too early. */
function timeText(time: number): string {
  return new Date(Math.ceil(time / 1000) * 1000).toISOString().replace('.000Z', 'Z');
}

function reportText({ alg, step, file, next_step_at: at }: StepReport): string {
  switch (step) {
    case 'published':
    case 'waiting':
      return `${alg}: ${file} is published but not used for signing; run latchkey keys rotate after ${at} to start signing with it\n`;
    case 'promoted':
      return `${alg}: ${file} is now used for signing; the previous key stays published until ${at}; then run latchkey keys rotate --retire\n`;
    case 'replaced':
      return `${alg}: ${file} was replaced and stays published until ${at}; then run latchkey keys rotate --retire\n`;
    case 'retired':
      return `${alg}: ${file} is no longer published\n`;
    case 'nothing':
      return `${alg}: no key to retire\n`;
  }
}
