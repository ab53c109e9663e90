import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** What was typed into a form, and what is wrong with it. */
interface FormState<Name extends string> {
  readonly values: Readonly<Record<Name, string>>;
  readonly errors: Readonly<Partial<Record<Name, string>>>;
  /** Takes what was typed; the field is no longer called wrong. */
  set(name: Name, value: string): void;
  /** Says what is wrong with one field, or that it is right, while the person is still typing elsewhere. */
  mark(name: Name, error: string | undefined): void;
  /** Says what is wrong and leads to the first field of these; without any the form is right. */
  reject(errors: Partial<Record<Name, string>>): void;
}

/** @param initial in the order of the fields */
export function useForm<Name extends string>(initial: Readonly<Record<Name, string>>): FormState<Name> {
  const [values, setValues] = useState(initial);
  const [errors, setErrors] = useState<Partial<Record<Name, string>>>({});
  const [rejected, setRejected] = useState<Partial<Record<Name, string>>>({});
  useEffect(() => {
    const first = Object.keys(initial).find((name) => name in rejected);
    if (first !== undefined) document.getElementById(first)?.focus();
  }, [rejected]);
  return {
    values,
    errors,
    set: (name, value) => {
      setValues((before) => ({ ...before, [name]: value }));
      setErrors((before) => ({ ...before, [name]: undefined }));
    },
    mark: (name, error) => setErrors((before) => ({ ...before, [name]: error })),
    reject: (found) => {
      setErrors(found);
      setRejected(found);
    },
  };
}

/** A form that a script sends. It posts, so that what is in it never gets into an address when the script fails. */
export function Form({
  isPending,
  onSubmit,
  children,
}: {
  isPending: boolean;
  onSubmit: () => Promise<void>;
  children: ComponentChildren;
}): VNode {
  return (
    <form
      class="form"
      method="post"
      noValidate
      aria-busy={isPending}
      onSubmit={(event) => {
        event.preventDefault();
        if (!isPending) void onSubmit();
      }}
    >
      {children}
    </form>
  );
}
