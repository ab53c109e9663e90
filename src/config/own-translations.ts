/** Operator translations: texts by key, by BCP 47 tag. A separate file because browser code imports it. */
export type OwnTranslations = Readonly<Record<string, Readonly<Record<string, string>>>>;
