/** No policy module: the built-in rules decide. */
export const NO_MODULE_RULES = { replaces: () => false, judge: async () => [] };
