/** What those who build on Portcullis test with. */
export { storeContract, type ContractState } from "../store/contract.ts";
