/** Pages about connecting well-known programs, from the presets of clients. */
import { stringify } from 'yaml';
import { applyPreset, filledSteps, serviceValues } from '../../src/domain/client-presets/apply-preset.ts';
import { CLIENT_PRESETS } from '../../src/domain/client-presets/presets.ts';
import type { Preset, PresetCheck, PresetStep } from '../../src/domain/client-presets/programs/preset.ts';
import { code, table } from './markdown.ts';

const SERVICE = serviceValues({ issuer: 'https://id.example.org', publicBase: 'https://id.example.org/' });
const CLIENT_ID = '01JD3Q5Z8W2N4K6M7P9R0S1T2V';
const CLIENT_SECRET = 'a-secret-of-at-least-16-characters';

/** Returns one page per program, by path below the root. */
export function programPages(): Readonly<Record<string, string>> {
  return Object.fromEntries(CLIENT_PRESETS.map((preset) => [`docs/guides/programs/${preset.slug}.md`, pageOf(preset)]));
}

/** Returns the table of all programs. */
export function programTable(): string {
  return table(
    ['Program', 'Preset', 'Redirect URI', 'Uses groups', 'Checked'],
    CLIENT_PRESETS.map(({ slug, name, client, groups, checked }) => [
      `[${name}](programs/${slug}.md)`,
      code(slug),
      code(client.redirect_uris[0] ?? ''),
      groups === undefined ? 'no' : 'yes',
      checked.how === 'tested' ? `tested with ${checked.name} ${checked.version}` : 'from its documentation',
    ]),
  );
}

function pageOf(preset: Preset): string {
  const { slug, name, url, client, groups, signOut, notes } = preset;
  const values = {
    ...SERVICE,
    client_id: CLIENT_ID,
    client_secret: CLIENT_SECRET,
    ...(url !== undefined && { url: url.example }),
  };
  const fill = (text: string) => filledTexts(preset, text, values);
  const option = url === undefined ? '' : ` --url ${url.example}`;
  const secret = client.client_auth_method === 'none' ? '' : ', the secret';
  const rows = [
    ...(groups === undefined ? [] : [['Groups', fill(groups)]]),
    ['Sign-out there', fill(signOut.fromProgram)],
    ['Sign-out from Latchkey ends its session', fill(signOut.fromService)],
    ...notes.map(({ topic, text }) => [topic, fill(text)]),
  ];
  return `${[
    `# ${name}`,
    'Generated from the source; do not edit by hand.',
    checkText(preset.checked),
    'The examples use `https://id.example.org` as the issuer of Latchkey. For what applies to all programs, see [Connect existing\napplications](../programs.md).',
    '## In Latchkey',
    preset.registersItself === true
      ? 'Where self-registration is allowed, you need no client. To create one:'
      : 'Create the client:',
    fenced('sh', `latchkey manage create-client --preset ${slug}${option}`),
    ...(url?.note === undefined ? [] : [url.note]),
    `The command prints the client ID${secret} and the settings below with your values. The same client in the configuration:`,
    fenced('yaml', stringify({ clients: [configured(preset)] }, { lineWidth: 0 })),
    `## In ${name}`,
    ...filledSteps(preset, values).map(stepText),
    table(['Topic', 'Notes'], rows),
  ].join('\n\n')}\n`;
}

/** Returns the client as an entry of the configuration. */
function configured(preset: Preset): object {
  const applied = applyPreset(preset, preset.url?.example);
  if (!applied.ok) throw new Error(`${preset.slug}: ${applied.reason}`);
  const secret = preset.client.client_auth_method === 'none' ? {} : { client_secret: CLIENT_SECRET };
  return { client_id: CLIENT_ID, ...secret, ...applied.members };
}

function checkText(check: PresetCheck): string {
  if (check.how === 'documentation') {
    return `These settings come from [its documentation](${check.url}), as of ${check.on}. We have not run the program.`;
  }
  const what = check.with === 'program' ? '' : 'the library ';
  return `Our tests sign in with ${what}${check.name} ${check.version}. They do not cover sign-out.`;
}

/** Fills in a text outside of the steps. */
function filledTexts(preset: Preset, text: string, values: Parameters<typeof filledSteps>[1]): string {
  const [step] = filledSteps({ ...preset, steps: [{ kind: 'text', text }] }, values);
  return step?.kind === 'text' ? step.text : text;
}

function stepText(step: PresetStep): string {
  switch (step.kind) {
    case 'text':
      return step.text;
    case 'fields':
      return table(
        ['Field', 'Value'],
        step.fields.map(({ label, value }) => [label, code(value)]),
      );
    case 'file':
      return `${step.name}:\n\n${fenced(step.language, step.content)}`;
    case 'command':
      return fenced('sh', step.content);
  }
}

function fenced(language: string, content: string): string {
  return `\`\`\`${language}\n${content.trimEnd()}\n\`\`\``;
}
