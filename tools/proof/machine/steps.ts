/** What was done, and how long each took. */
export function createSteps() {
  let since = performance.now();
  const rows: { step: string; seconds: string }[] = [];
  return {
    rows,
    done(step: string): void {
      const now = performance.now();
      rows.push({ step, seconds: ((now - since) / 1000).toFixed(1) });
      since = now;
      console.log(`== ${step}`);
    },
  };
}
