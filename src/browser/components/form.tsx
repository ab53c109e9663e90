import type { ComponentChildren, VNode } from 'preact';
import { type PostAuthAction, postAuthActionFields } from '#protocol/post-auth-action.ts';
import type { Translations } from '../i18n/translations.ts';

/** Why a form was rejected, with a language-independent code for scripts and tests. */
export interface FormProblem {
  readonly code: string;
  readonly message: string;
  /** Name of the input. Undefined if the problem concerns the whole form. */
  readonly field?: string;
}

/** Returns the problems of one input. */
export function problemsOf(problems: readonly FormProblem[], field: string): FormProblem[] {
  return problems.filter((problem) => problem.field === field);
}

/** A form that posts to this service. `csrf` is the result of `Csrf.field` for this page. */
export function Form({
  action,
  csrf,
  id,
  isInline = false,
  isSentAtOnce = false,
  isSentOnce = false,
  children,
}: {
  action: string;
  csrf: string;
  /** Of a hidden form, whose buttons are outside. */
  id?: string;
  /** For a form that is a single button within a line. */
  isInline?: boolean;
  /** With scripts, the form is submitted without a press of its button. */
  isSentAtOnce?: boolean;
  /** The response is sent only once: with scripts, a second press of the button has no effect. */
  isSentOnce?: boolean;
  children: ComponentChildren;
}): VNode {
  return (
    // The server reports what is missing, in the user's language and next to the field.
    <form
      class={isInline ? 'form-inline' : 'form'}
      id={id}
      hidden={id !== undefined || undefined}
      method="post"
      action={action}
      noValidate
      data-submit-at-once={isSentAtOnce || undefined}
      data-submit-once={isSentOnce || undefined}
    >
      <input type="hidden" name="csrf" value={csrf} />
      {children}
    </form>
  );
}

/** Hidden inputs in the given order. */
export function HiddenFields({ fields }: { fields: readonly (readonly [name: string, value: string])[] }): VNode {
  return (
    <>
      {fields.map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
    </>
  );
}

/** A continuation as hidden inputs. Empty without an action. */
export function ActionFields({ action }: { action: PostAuthAction | undefined }): VNode {
  return <HiddenFields fields={postAuthActionFields(action)} />;
}

/** The problems of a rejected form, below the heading and focused. Empty for a form without problems. */
export function ErrorSummary({
  translations,
  problems,
}: {
  translations: Translations;
  problems: readonly FormProblem[];
}): VNode | null {
  if (problems.length === 0) return null;
  return (
    <div class="notice notice-danger summary" role="alert" tabIndex={-1} autofocus>
      <p class="summary-title">{translations.t('form.summary', { count: problems.length })}</p>
      <ul>
        {problems.map((problem) => (
          <li>
            {problem.field === undefined ? (
              <span data-error-code={problem.code}>{problem.message}</span>
            ) : (
              <a href={`#${problem.field}`}>{problem.message}</a>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}
