/** `latchkey debug policy`: loads the policy module and data, and prints which are in effect (operations 3.13). */

import { loadConfiguredModule, openFoundation } from '#app/service/foundation.ts';
import { configSources } from '#app/service/process-context.ts';
import { type LoadedConfig, loadConfig } from '#config/load.ts';
import { LivePolicy } from '#domain/policy/live-policy.ts';
import { POLICY_RULES, type PolicyModule } from '#domain/policy/module/policy-module.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { describeError } from '#platform/base/log.ts';
import type { CommandIo, CommandOptions } from './command-io.ts';

export interface DebugPolicyOptions {
  /** Include the stored policy data, which is in the database. */
  readonly withDynamicData: boolean;
}

interface DescribedPolicy {
  /** Null if there is none. */
  readonly module: string | null;
  readonly rules: Readonly<Record<string, 'module' | 'built-in'>>;
  /** ID of the stored data, null if there is none. Absent unless requested. */
  readonly stored_data?: string | null;
  /** Why the policy cannot be used. */
  readonly problem?: string;
}

/** @returns the exit code: 1 if the module or the stored data cannot be used */
export async function debugPolicy(
  configuration: CommandOptions,
  { withDynamicData }: DebugPolicyOptions,
  io: CommandIo,
): Promise<number> {
  const loaded = loadConfig(configSources(configuration, io));
  const described = await describePolicy(configuration, loaded, withDynamicData, io);
  io.stdout(configuration.isJson ? `${JSON.stringify(described)}\n` : textOf(described));
  return described.problem === undefined ? ExitCode.ok : ExitCode.failure;
}

async function describePolicy(
  configuration: CommandOptions,
  loaded: LoadedConfig,
  withDynamicData: boolean,
  io: CommandIo,
): Promise<DescribedPolicy> {
  const module = loaded.config.policy.modulePath ?? null;
  let rules: PolicyModule | undefined;
  try {
    rules = await loadConfiguredModule(loaded);
  } catch (error) {
    if (!(error instanceof ExitError)) throw error;
    return { module, rules: {}, problem: describeError(error).message.split('\n').at(-1)?.trim() ?? '' };
  }
  const described = {
    module,
    rules: Object.fromEntries(
      POLICY_RULES.map((name) => [name, rules?.[name] === undefined ? 'built-in' : 'module'] as const),
    ),
  };
  return withDynamicData ? { ...described, ...(await judgeStored(configuration, io)) } : described;
}

async function judgeStored(
  configuration: CommandOptions,
  io: CommandIo,
): Promise<Pick<DescribedPolicy, 'problem' | 'stored_data'>> {
  const wants = { shouldMigrate: false, needsSigningKeys: false };
  const foundation = await openFoundation({ ...configuration, isQuiet: true }, io, wants);
  try {
    const { config, database, openLog } = foundation;
    const policy = new LivePolicy({ configured: config.policy.data, database, log: openLog.log });
    const stored = await policy.judgeStored();
    if (stored === undefined) return { stored_data: null };
    const { id, judged } = stored;
    return judged.ok
      ? { stored_data: id }
      : { stored_data: id, problem: `policy data ${id}: ${judged.path.join('.')}: ${judged.problem}` };
  } finally {
    await foundation.close();
  }
}

function textOf({ module, rules, stored_data: stored, problem }: DescribedPolicy): string {
  const lines = [`module: ${module ?? 'none'}`];
  for (const [name, source] of Object.entries(rules)) lines.push(`${name}: ${source}`);
  if (stored !== undefined) lines.push(`stored data: ${stored ?? 'none'}`);
  lines.push(problem === undefined ? 'the policy is valid' : `problem: ${problem}`);
  return `${lines.join('\n')}\n`;
}
