/** Why a form was rejected, with a code that scripts and tests can rely on in every language. */
export interface FormProblem {
  readonly code: string;
  readonly message: string;
  /** Name of the input it concerns; absent when it concerns the form as a whole. */
  readonly field?: string;
}

/** The problems of one input. */
export function problemsOf(problems: readonly FormProblem[], field: string): FormProblem[] {
  return problems.filter((problem) => problem.field === field);
}
