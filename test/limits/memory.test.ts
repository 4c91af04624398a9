import { MemoryLimits } from '../../src/limits/memory.ts';
import { describeLimits } from '../conformance/limits.ts';

describeLimits('limits in memory', async (now) => new MemoryLimits(now));
