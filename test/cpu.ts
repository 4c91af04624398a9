/** Returns the CPU time that this process has used, whatever else the machine is doing. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
