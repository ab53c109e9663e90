import { findOrCreateGroups } from '#domain/accounts/groups/group.ts';
import { createClient } from '#domain/clients/managed/create-client.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import type { ClientId } from '#vocabulary/ids.ts';
import type { ManageDeps } from './accounts.ts';
import { presetFor, stepsText } from './client-presets.ts';
import { clientAction, invalidProperty, type PropertyFlags, propertiesFrom } from './client-properties.ts';
import { operatorChange } from './operator-change.ts';
import { readGivenPassword } from './password-input.ts';

export interface CreateClientOptions {
  readonly clientId: string | undefined;
  /** Path of a file with the secret, `-` for standard input. */
  readonly secretFile: string | undefined;
  /** Preset that the properties come from. `flags` override them. */
  readonly preset: string | undefined;
  /** URL of the program of the preset. */
  readonly url: string | undefined;
  readonly flags: PropertyFlags;
  readonly json: boolean;
}

/** `manage create-client`. Throws `ExitError` 1 for a property that is not accepted or an ID in use; 2 for an option. */
export async function createClientCommand(deps: ManageDeps, options: CreateClientOptions): Promise<void> {
  const { clientId, flags, json, secretFile, url } = options;
  if (options.preset === undefined && url !== undefined) throw new ExitError(ExitCode.usage, '--url needs --preset');
  const applied = options.preset === undefined ? undefined : presetFor(deps, options.preset, url);
  const given = await readGivenPassword({ passwordFile: secretFile }, deps.io);
  const members = {
    client_auth_method: 'client_secret_basic',
    ...applied?.members,
    ...propertiesFrom(flags),
    ...(clientId !== undefined && { client_id: clientId }),
    ...(given !== undefined && { client_secret: given }),
  };
  const recorded = ({ id }: { readonly id: ClientId }) => clientAction('create-client', id);
  const created = await operatorChange(deps, recorded, async (transaction) => {
    const withGroups = { ...deps, findOrCreateGroups };
    const outcome = await createClient(transaction, withGroups, { members, preset: applied?.preset.slug });
    if (outcome.ok) return outcome;
    if (outcome.reason === 'exists') throw new ExitError(ExitCode.failure, 'another client has this id');
    throw invalidProperty(outcome.problem.path, outcome.problem.message);
  });
  const secret = created.secret?.reveal();
  const steps = applied?.steps({ id: created.id, secret });
  if (json) {
    const document = { client_id: created.id, client_secret: secret ?? null, ...(steps !== undefined && { steps }) };
    deps.io.stdout(`${JSON.stringify(document)}\n`);
    return;
  }
  deps.io.stdout(`client_id: ${created.id}\n`);
  if (secret !== undefined) deps.io.stdout(`client_secret: ${secret}\n`);
  if (applied !== undefined && steps !== undefined) {
    deps.io.stdout(`\nIn ${applied.preset.name}:\n\n${stepsText(steps)}`);
  }
}
