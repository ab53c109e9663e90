import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Form, useForm } from '../../components/form.tsx';
import type { Problem, TestResponse } from '../api/admin-client.ts';
import { useChange } from '../api/use-change.ts';
import { dropDraft, keepDraft, readDraft } from '../frame/draft.ts';
import { useAnnounce } from '../frame/live.tsx';
import { useTexts } from '../i18n/translations.ts';
import { ProblemNotice, useProblemText } from './loaded.tsx';

export interface DraftForm<Name extends string> {
  readonly values: Readonly<Record<Name, string>>;
  readonly errors: Readonly<Partial<Record<Name, string>>>;
  readonly set: (name: Name, value: string) => void;
  /** Shows errors at their fields, and focuses the first. */
  readonly reject: (errors: Partial<Record<Name, string>>) => void;
  /** Removes the draft, after success or if the user cancels. */
  readonly forget: () => void;
}

/**
 * A form that keeps what is typed in `sessionStorage` until it is sent or canceled.
 * @param name of the form on this page
 * @param initial values in field order; the names are the IDs of the fields
 * @param secrets fields that are never kept
 */
export function useDraftForm<Name extends string>(
  name: string,
  initial: Readonly<Record<Name, string>>,
  secrets: readonly NoInfer<Name>[] = [],
): DraftForm<Name> {
  const [first] = useState(() => ({ ...initial, ...ownValues(readDraft(name), initial) }));
  const { values, errors, set, reject } = useForm<Name>(first);
  return {
    values,
    errors,
    reject,
    set: (field, value) => {
      set(field, value);
      const changed = Object.entries<string>({ ...values, [field]: value }).filter(
        ([key, text]) => !secrets.some((secret) => secret === key) && text !== ownValues(initial, initial)[key],
      );
      keepDraft(name, Object.fromEntries(changed));
    },
    forget: () => dropDraft(name),
  };
}

/** Omits what an older form of the same name had. */
function ownValues(draft: Readonly<Record<string, string>>, initial: object): Record<string, string> {
  return Object.fromEntries(Object.entries(draft).filter(([name]) => name in initial));
}

/**
 * A dialog with a form. If the request fails, it keeps what was typed, and shows the problem at the field that the API
 * names. The fields of the form must have the names of the members of the body.
 */
export function FormDialog<Name extends string, Data>({
  title,
  action,
  kind = 'primary',
  form,
  done,
  onSubmit,
  onDone,
  onClose,
  children,
}: {
  title: string;
  /** Text of the button. */
  action: string;
  kind?: 'primary' | 'danger';
  form: DraftForm<Name>;
  /** Reported after success. */
  done: string;
  /** Undefined if the form is invalid; it has shown why. */
  onSubmit: () => Promise<TestResponse<Data>> | undefined;
  onDone: (data: Data) => void;
  onClose: () => void;
  /** The fields. */
  children: ComponentChildren;
}): VNode {
  const { t } = useTexts();
  const announce = useAnnounce();
  const textOf = useProblemText();
  const { isPending, problem, send } = useChange();
  const [isAtField, setAtField] = useState(false);
  const submit = async (): Promise<void> => {
    const request = onSubmit();
    if (request === undefined) return;
    const response = await send(() => request);
    if (!response.ok) {
      const errors = fieldErrors(response.problem, form.values, textOf);
      setAtField(errors !== undefined);
      if (errors !== undefined) form.reject(errors);
      return;
    }
    form.forget();
    onClose();
    onDone(response.data);
    announce(done);
  };
  const cancel = () => {
    form.forget();
    onClose();
  };
  return (
    <Dialog title={title} isPending={isPending} onClose={cancel}>
      <Form isPending={isPending} onSubmit={submit}>
        {children}
        {problem !== undefined && !isAtField && <ProblemNotice problem={problem} />}
        <div class="dialog-buttons">
          <Button kind={kind} isPending={isPending}>
            {action}
          </Button>
          <Button kind="secondary" isDisabled={isPending} onClick={cancel}>
            {t('admin.cancel')}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

/** Returns the error of the field that a problem is about; undefined if it is about none. */
export function fieldErrors<Name extends string>(
  problem: Problem,
  fields: Readonly<Record<Name, string>>,
  textOf: (problem: Problem) => string,
): Partial<Record<Name, string>> | undefined {
  const field = problem.kind === 'refused' ? fieldOf(problem.pointer, fields) : undefined;
  return field === undefined ? undefined : errorOf(field, textOf(problem));
}

/** Returns the field that a pointer such as `/redirect_uris/0` is about. */
function fieldOf<Name extends string>(
  pointer: string | undefined,
  fields: Readonly<Record<Name, string>>,
): Name | undefined {
  const member = pointer?.split('/', 2)[1];
  for (const name in fields) if (name === member) return name;
  return undefined;
}

function errorOf<Name extends string>(field: Name, text: string): Partial<Record<Name, string>> {
  const errors: Partial<Record<Name, string>> = {};
  errors[field] = text;
  return errors;
}
