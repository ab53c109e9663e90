import type { VNode } from 'preact';

/** Password managers choose the entry by the name, and the meter holds the password against it. */
export function HiddenUsername({ username }: { username: string }): VNode {
  return <input id="username" type="text" name="username" value={username} autocomplete="username" hidden readOnly />;
}
