/** Defines the primary address of an account, which applications get: the one that the user chose, else the oldest. */

/**
 * Returns SQL for `order by`: the primary address first, then the others by age. @param email alias of `user_emails`
 */
export function primaryFirst(email: string): string {
  return `${email}.is_primary desc, ${email}.created_at, ${email}.id`;
}

/** Returns a boolean SQL expression: whether this row of `user_emails` is the primary address of its account. */
export function isPrimary(email: string): string {
  return `${email}.id = (
    select own.id from user_emails own where own.user_id = ${email}.user_id order by ${primaryFirst('own')} limit 1
  )`;
}
