import type { Readable, Writable } from 'node:stream';
import { ExitCode, ExitError } from '#platform/base/errors.ts';

/** Questions at a terminal. Each throws `ExitError` 130 when the person gives up. */
export interface Prompts {
  /** The answer, possibly empty. */
  text(question: string): Promise<string>;
  /** The same without showing what is typed. */
  password(question: string): Promise<string>;
  confirm(question: string, initially: boolean): Promise<boolean>;
  /** Shows a few lines between questions. */
  note(title: string, lines: readonly string[]): void;
}

/** Prompts on a terminal; the library is loaded here, since most commands never ask. */
export async function openPrompts(input: Readable, output: Writable): Promise<Prompts> {
  const clack = await import('@clack/prompts');
  const streams = { input, output };
  const answered = <T extends string | boolean>(answer: T | symbol): T => {
    if (typeof answer === 'symbol') throw new ExitError(ExitCode.interrupted, 'cancelled');
    return answer;
  };
  return {
    text: async (message) => answered<string>((await clack.text({ message, ...streams })) ?? ''),
    password: async (message) => answered<string>((await clack.password({ message, ...streams })) ?? ''),
    confirm: async (message, initialValue) =>
      answered<boolean>(await clack.confirm({ message, initialValue, ...streams })),
    note: (title, lines) => clack.note(lines.join('\n'), title, { output }),
  };
}
