from torch.utils.data._utils import collate, fetch, worker
