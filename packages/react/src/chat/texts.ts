export const chatTexts = {};
