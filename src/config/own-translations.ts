/** Texts of the operator by key, by BCP 47 tag. In a file of its own: code for the browser knows it too. */
export type OwnTranslations = Readonly<Record<string, Readonly<Record<string, string>>>>;
