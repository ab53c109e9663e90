/** What people pay for. */
export { Plan } from './plan.tsx';
