// Runs before the first paint so that a chosen theme never flashes the other one.
try {
  const { theme, density } = JSON.parse(localStorage.getItem('parley.preferences') ?? '{}');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  if (density === 'dense') document.documentElement.dataset.density = density;
} catch {
  // Unreadable preferences are no preferences.
}
