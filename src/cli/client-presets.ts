/** Presets on the command line (administration A-11). */
import { applyPreset, filledSteps, serviceValues } from '#domain/client-presets/apply-preset.ts';
import { CLIENT_PRESETS, findPreset } from '#domain/client-presets/presets.ts';
import type { Preset, PresetCheck, PresetStep } from '#domain/client-presets/programs/preset.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { isLoopbackName, parseUrl } from '#platform/base/url.ts';
import type { JsonObject } from '#protocol/json-merge-patch.ts';
import type { ManageDeps } from './accounts.ts';
import { table } from './table.ts';
import { visible } from './visible-text.ts';

interface Output {
  stdout(text: string): void;
}

/** `manage list-presets` */
export function listPresetsCommand(io: Output, isJson: boolean): void {
  if (isJson) for (const preset of CLIENT_PRESETS) io.stdout(`${JSON.stringify(preset)}\n`);
  else {
    const rows = CLIENT_PRESETS.map(({ slug, name, checked }) => [slug, name, checkText(checked)]);
    io.stdout(table([['PRESET', 'PROGRAM', 'CHECKED'], ...rows]));
  }
}

/** `manage show-preset`: both sides with placeholders. Throws `ExitError` 2 for an unknown preset. */
export function showPresetCommand(io: Output, slug: string, isJson: boolean): void {
  const preset = presetNamed(slug);
  if (isJson) {
    io.stdout(`${JSON.stringify(preset)}\n`);
    return;
  }
  const { name, url, client, scopes, groups, notes, checked } = preset;
  io.stdout(`${name} (${checkText(checked)})\n\n`);
  const properties = { ...client, scope: scopes.join(' ') };
  for (const [key, value] of Object.entries(properties)) {
    io.stdout(`${key}: ${typeof value === 'string' ? value : value.join(' ')}\n`);
  }
  if (url !== undefined) io.stdout(`{url}: ${url.example}${url.note === undefined ? '' : `  # ${url.note}`}\n`);
  io.stdout(`\n${stepsText(preset.steps)}`);
  if (groups !== undefined) io.stdout(`\nGroups: ${groups}\n`);
  for (const { topic, text } of notes) io.stdout(`\n${topic}: ${text}\n`);
}

export interface AppliedPreset {
  readonly preset: Preset;
  readonly members: JsonObject;
  /** Returns what to enter in the program. */
  steps(client: { readonly id: string; readonly secret: string | undefined }): readonly PresetStep[];
}

/**
 * Returns the client for `create-client --preset`, with warnings on standard error.
 * @throws ExitError 2
 */
export function presetFor(deps: ManageDeps, slug: string, givenUrl: string | undefined): AppliedPreset {
  const preset = presetNamed(slug);
  const applied = applyPreset(preset, givenUrl);
  if (!applied.ok) throw new ExitError(ExitCode.usage, problemOf(preset, applied));
  const { members, url } = applied;
  const parsed = url === undefined ? undefined : parseUrl(url);
  if (parsed?.protocol === 'http:' && !isLoopbackName(parsed.hostname)) {
    deps.io.stderr('warning: with http, others on the network can read the codes that sign users in\n');
  }
  return {
    preset,
    members,
    steps: ({ id, secret }) =>
      filledSteps(preset, {
        ...serviceValues(deps),
        client_id: id,
        client_secret: secret ?? 'CLIENT_SECRET',
        ...(url !== undefined && { url }),
      }),
  };
}

/** Formats steps for a terminal. */
export function stepsText(steps: readonly PresetStep[]): string {
  return steps.map((step) => stepText(step)).join('\n');
}

function stepText(step: PresetStep): string {
  switch (step.kind) {
    case 'text':
      return `${step.text}\n`;
    case 'fields':
      return step.fields.map(({ label, value }) => `  ${label}: ${value}\n`).join('');
    case 'file':
      return `${step.name}:\n\n${indented(step.content)}`;
    case 'command':
      return indented(`${step.content}\n`);
  }
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}

function presetNamed(slug: string): Preset {
  const preset = findPreset(slug);
  if (preset !== undefined) return preset;
  throw new ExitError(ExitCode.usage, `no preset ${visible(slug)}; "latchkey manage list-presets" lists all of them`);
}

function problemOf(preset: Preset, refusal: Extract<ReturnType<typeof applyPreset>, { ok: false }>): string {
  switch (refusal.reason) {
    case 'url-missing':
      return `--url is missing: the URL of ${preset.name}, for example ${preset.url?.example}`;
    case 'url-not-used':
      return `${preset.name} needs no --url`;
    case 'url-invalid':
      return `--url ${refusal.problem}`;
  }
}

function checkText(checked: PresetCheck): string {
  return checked.how === 'tested'
    ? `tested with ${checked.name} ${checked.version}`
    : `from its documentation of ${checked.on}`;
}
