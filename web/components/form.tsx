import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** Values and errors of a form. */
interface FormState<Name extends string> {
  readonly values: Readonly<Record<Name, string>>;
  readonly errors: Readonly<Partial<Record<Name, string>>>;
  /** Sets a value and clears its error. */
  set(name: Name, value: string): void;
  /** Sets or clears the error of one field without moving the focus. */
  mark(name: Name, error: string | undefined): void;
  /** Sets the errors and focuses the first invalid field. Without errors the form is valid. */
  reject(errors: Partial<Record<Name, string>>): void;
}

/** @param initial values in field order */
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

/** A form submitted by script. It uses POST, so that its values never end up in a URL if the script fails. */
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
