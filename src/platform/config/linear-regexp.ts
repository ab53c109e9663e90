import { RE2JS } from 're2js';

/**
 * Whether a text is a regular expression of RE2: searched in time that grows with the length of the text alone, which
 * those of JavaScript are not. Undefined when it is, else what is wrong with it.
 */
export function regexpProblem(source: string): string | undefined {
  try {
    RE2JS.compile(source);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message.replace('error parsing regexp: ', '') : String(error);
  }
}
