export const streamTexts = {};
