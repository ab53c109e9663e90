import type { VNode } from 'preact';

/** Password managers use it to select the entry, and the strength meter compares the password with it. */
export function HiddenUsername({ username }: { username: string }): VNode {
  return <input id="username" type="text" name="username" value={username} autocomplete="username" hidden readOnly />;
}
