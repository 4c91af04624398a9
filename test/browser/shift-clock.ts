/**
 * Loaded before the program: the main thread's clock begins some days ago, and every SIGUSR2 sets it on by a step until it is
 * right. So a week of real traffic goes through a real gate in half a minute.
 */
const BACK_MS = Number(process.env['CLOCK_BACK_MS'] ?? 0);
const STEP_MS = Number(process.env['CLOCK_STEP_MS'] ?? 0);

if (Bun.isMainThread && BACK_MS > 0) {
  const realNow = Date.now.bind(Date);
  let backMs = BACK_MS;
  Date.now = () => realNow() - backMs;
  process.on('SIGUSR2', () => {
    backMs = Math.max(0, backMs - STEP_MS);
    // Whoever asked for it waits for this, or a request would seem to last for hours.
    console.log('the clock is set');
  });
}
