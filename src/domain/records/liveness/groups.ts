/** SQL for groups. A group that is being deleted has no members, although some accounts still list its name. */

/** @param group alias of `user_groups` */
export function groupExists(group: string): string {
  return `${group}.deleted_at is null`;
}

/**
 * Returns an expression of type `text[]`: the sorted names of the groups that exist.
 * @param ids expression of type `uuid[]`; null gives an empty array
 */
export function groupNamesOf(ids: string): string {
  return `array(
    select named.name from user_groups named
     where named.id = any(${ids}) and ${groupExists('named')} order by named.name collate "C"
  )`;
}
