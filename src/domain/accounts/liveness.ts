/**
 * The account may be used: it is neither locked nor deactivated. A condition for statements.
 * @param user alias of `users`
 */
export function accountIsUsable(user: string): string {
  return `(${user}.locked_at is null and ${user}.deactivated_at is null)`;
}
