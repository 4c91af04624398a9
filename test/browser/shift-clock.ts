/**
 * Preloaded before the program. The main thread's clock starts some days in the past, and every SIGUSR2 advances it by a step
 * until it is correct. This lets a week of real traffic go through a real gate in half a minute.
 */
const BACK_MS = Number(process.env['CLOCK_BACK_MS'] ?? 0);
const STEP_MS = Number(process.env['CLOCK_STEP_MS'] ?? 0);

if (Bun.isMainThread && BACK_MS > 0) {
  const realNow = Date.now.bind(Date);
  let backMs = BACK_MS;
  Date.now = () => realNow() - backMs;
  process.on('SIGUSR2', () => {
    backMs = Math.max(0, backMs - STEP_MS);
    // The sender waits for this line; otherwise a running request would seem to last for hours.
    console.log('the clock is set');
  });
}
