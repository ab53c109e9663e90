import type { Readable, Writable } from 'node:stream';
import { ExitCode, ExitError } from '#platform/base/errors.ts';

/** Terminal prompts. Each throws `ExitError` 130 if the user cancels. */
export interface Prompts {
  /** Returns the answer, possibly empty. */
  text(question: string): Promise<string>;
  /** The same with hidden input. */
  password(question: string): Promise<string>;
  confirm(question: string, initially: boolean): Promise<boolean>;
  /** Shows a few lines between prompts. */
  note(title: string, lines: readonly string[]): void;
}

/** Opens prompts on a terminal. The library is imported here because most commands never prompt. */
export async function openPrompts(input: Readable, output: Writable): Promise<Prompts> {
  const clack = await import('@clack/prompts');
  const streams = { input, output };
  const responded = <T extends string | boolean>(response: T | symbol): T => {
    if (typeof response === 'symbol') throw new ExitError(ExitCode.interrupted, 'cancelled');
    return response;
  };
  return {
    text: async (message) => responded<string>((await clack.text({ message, ...streams })) ?? ''),
    password: async (message) => responded<string>((await clack.password({ message, ...streams })) ?? ''),
    confirm: async (message, initialValue) =>
      responded<boolean>(await clack.confirm({ message, initialValue, ...streams })),
    note: (title, lines) => clack.note(lines.join('\n'), title, { output }),
  };
}
