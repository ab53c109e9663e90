import type { PresetCheck } from './preset.ts';

/** The settings come from this page of the program's documentation. */
export function documented(url: string): PresetCheck {
  return { how: 'documentation', url, on: '2026-11-28' };
}

/** An application in `tools/apps` signs users in. @param folder of the application */
export function tested(subject: 'program' | 'library', name: string, version: string, folder: string): PresetCheck {
  return { how: 'tested', with: subject, name, version, test: `tools/apps/${folder}` };
}
